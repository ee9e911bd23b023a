import { isLuhn } from './checksums.ts'
import { type Lexeme, readDigits } from './spoken-digits.ts'

/** A sequence of spoken or written digits. `from` and `to` (exclusive) are offsets in the text. */
export type DigitRun = {
  from: number
  to: number
  digits: string
  /** Whether a plus sign precedes it, spoken or written. */
  plus: boolean
  /** The number of digits between separators (commas, dashes, spaces between written digits). */
  groups: number[]
  spoken: boolean
}

const connectors = new Set(['-', '–', '‑', '.', ',', '(', ')', 'dash', 'hyphen', 'space', '…'])
const spokenConnectors = new Set(['dash', 'hyphen', 'space'])

/**
 * Joins digits that are dictated ("four two, double five", "oh nine twenty seven") or written in
 * parts into runs. Every other word ends a run. A full stop between digits does not, because a
 * recognizer writes one at every pause of a dictation; but it ends a complete card number, which
 * the expiry date follows.
 */
export function digitRuns(lexemes: readonly Lexeme[]): DigitRun[] {
  const runs: DigitRun[] = []
  let at = 0
  while (at < lexemes.length) {
    if (isPronoun(lexemes, at)) {
      at++
      continue
    }
    const { run, next } = readRun(lexemes, at)
    if (run) runs.push(run)
    at = next
  }
  return runs
}

/** Returns whether a lexeme is no number but stands for a thing: "I lost the old one. Four two". */
function isPronoun(lexemes: readonly Lexeme[], at: number): boolean {
  if (lexemes[at]!.lower !== 'one') return false
  const isEnd = /^[.,?!]$/.test(lexemes[at + 1]?.text ?? '.')
  return isEnd && beforePronoun.test(lexemes[at - 1]?.lower ?? '')
}

const beforePronoun =
  /^(?:old|new|this|that|which|another|other|last|next|only|wrong|right|same|correct|any|no|every|good|previous|current|debit|credit|the)$/

function readRun(lexemes: readonly Lexeme[], begin: number) {
  const plus = /^(?:\+|plus)$/.test(lexemes[begin]!.lower)
  let at = begin + (plus ? 1 : 0)
  if (lexemes[at]?.text === '(') at++
  const run: DigitRun = {
    from: lexemes[begin]!.from,
    to: 0,
    digits: '',
    plus,
    groups: [],
    spoken: false,
  }
  let marked = true
  let end = begin
  for (;;) {
    const read = readDigits(lexemes, at, run.digits !== '')
    if (read === undefined) {
      if (run.digits === '' || !connectors.has(lexemes[at]?.lower ?? '')) break
      if (lexemes[at]!.text === '.' && isWholeCard(run.digits)) break
      marked = true
      at++
      continue
    }
    const written = /^\d/.test(lexemes[at]!.text)
    if (marked || written) run.groups.push(0)
    run.groups[run.groups.length - 1]! += read.digits.length
    run.digits += read.digits
    run.spoken ||= !written
    marked = written
    at += read.count
    end = at
    run.to = lexemes[at - 1]!.to
  }
  if (run.digits === '') return { run: undefined, next: begin + 1 }
  return { run, next: end }
}

function isWholeCard(digits: string): boolean {
  return /^[3-6]\d{14,15}$/.test(digits) && isLuhn(digits)
}

/** Returns whether a word only connects dictated digits. */
export function isSpokenConnector(word: string): boolean {
  return spokenConnectors.has(word)
}
