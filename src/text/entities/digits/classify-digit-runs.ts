import { wordList } from '../../words/word-lists.ts'
import { isGrouped, isMeasured, isRound } from '../amounts/amount-runs.ts'
import type { Entity, EntityType } from '../entity-types.ts'
import { CUE_REACH, precedingText } from '../matching/matching.ts'
import { isLuhn, isNorthAmericanPhone, isSsn } from './checksums.ts'
import { withoutCorrected } from './corrections.ts'
import type { DigitRun } from './digit-runs.ts'

type Cue = {
  type: EntityType
  words: RegExp
  /** The fewest and the most digits. */
  digits: [number, number]
  /**
   * Only fillers may stand between the cue and the digits, because the cue is also an everyday
   * word.
   */
  close?: true
  /** The cue decides only if there is no other cue. */
  weak?: true
}

/**
 * Words before digits (or after them, as in "is my …") that determine their type. The closest cue
 * that fits decides.
 */
const cues: Cue[] = [
  { type: 'SSN', words: /\b(?:social(?: security)?(?: number)?|ssn)\b/gi, digits: [4, 9] },
  { type: 'ROUTING_NUMBER', words: /\b(?:sort code|bsb)(?: number)?\b/gi, digits: [6, 6] },
  { type: 'ROUTING_NUMBER', words: /\b(?:routing|aba|transit)(?: number)?\b/gi, digits: [9, 9] },
  {
    type: 'BANK_ACCOUNT',
    words: /\b(?:bank|checking|savings|current|deposit) account(?: number)?\b/gi,
    digits: [4, 17],
    close: true,
  },
  {
    type: 'ACCOUNT_NUMBER',
    words: /\baccount(?: number| no\.?| id)?\b/gi,
    digits: [4, 17],
    close: true,
  },
  { type: 'LOCATION_ZIP', words: /\b(?:zip|postal|post) ?codes?\b|\bzip\b/gi, digits: [4, 9] },
  {
    type: 'CVV',
    words:
      /\b(?:cvv2?|cvc2?|cv two|c v v|c v c|security (?:code|number|digits)|card code|verification code|three (?:digits?|numbers?)|last three|on the back|back of (?:the|my|your) card)\b|\bsecurity(?= $)|(?<=(?:expir|card|valid)[^.?!]{0,50})\bcode(?= $)|(?<=(?:expir|valid)[^?!]{0,50}\bthe )code(?=[,?]? (?:is |it['’]s )?$)/gi,
    digits: [3, 4],
  },
  {
    type: 'PASSWORD',
    words: /\b(?:pin|pin (?:code|number)|passcode|pass code)\b/gi,
    digits: [3, 8],
    close: true,
  },
  {
    type: 'PHONE_NUMBER',
    words:
      /\b(?:tele)?phone(?: number)?\b|\b(?:call|cell|mobile|fax|landline|(?:office|direct|home|work|land) line|whatsapp|dial|callback)\b/gi,
    digits: [7, 15],
  },
  {
    type: 'PHONE_NUMBER',
    words:
      /\b(?:(?<!\b(?:card|account|security|social|passport|licen[cs]e|policy|routing|insurance|member|order|reference|claim|tracking|case|registration) )number|reach|text|contact)\b/gi,
    digits: [7, 15],
    weak: true,
  },
  { type: 'PHONE_NUMBER', words: /\barea code\b/gi, digits: [3, 3], close: true },
  {
    type: 'PHONE_NUMBER',
    words: /\b(?:extension|ext\.?)\b/gi,
    digits: [2, 6],
    close: true,
  },
  { type: 'PASSPORT_NUMBER', words: /\bpassport\b/gi, digits: [6, 9] },
  { type: 'DRIVER_LICENSE', words: /\b(?:driver'?s?|driving) licen[cs]e\b/gi, digits: [5, 14] },
  {
    type: 'HEALTHCARE_NUMBER',
    words:
      /\b(?:medicare|medicaid|nhs|mrn|medical record|health(?: ?care| insurance| card| plan)?|member(?:ship)? (?:id|number)|group (?:id|number)|insurance|policy|patient (?:id|number)|subscriber)\b/gi,
    digits: [5, 15],
    close: true,
  },
  {
    type: 'ORGANIZATION_ID',
    words:
      /\b(?:employer identification|ein|tax id|vat|company registration|registration|duns)\b/gi,
    digits: [6, 12],
    close: true,
  },
  {
    type: 'NUMERICAL_PII',
    words:
      /\b(?:order|ticket|case|reference|ref|confirmation|tracking|booking|reservation|customer|employee|badge|student|invoice|serial|claim|member|authorization|access|verification|one[- ]time|asset|hospital|chart|prescription|permit|locker|combination|application)(?: (?:number|code|id|no\.?|tag|ref|reference))?\b|\b(?:id|code)\b/gi,
    digits: [4, 22],
    close: true,
  },
  {
    type: 'CREDIT_CARD',
    words: /\b(?:cards?|visa|mastercard|amex|american express)\b/gi,
    digits: [12, 19],
  },
]

const fillers =
  /^(?:[\s,.:;?!#’'"-]|[’']s\b|\b(?:numbers?|no|id|code|is|it'?s|it|that'?s|that|was|would be|will be|are|ending|ends|in|with|the|last|four|five|six|digits?|of|on|my|your|file|okay|ok|um|uh|sure|yes|and|please|here|as|follows|for|this|which|so|let me see|again|got|have|i|yeah|yep|well|right|of course|you|me|can|could|may|would|to|we|front|a|as|a moment|great|thanks|thank|star|pound|hash|at|they|texted|sent|just|read|back|out|it's|says|got)\b)*$/i

type CueMatch = {
  type: EntityType
  weak: boolean
  /** The text of the cue. */
  phrase: string
  /** Only fillers stand between it and the digits. */
  isAdjacent: boolean
}

/** Classifies runs of digits by the closest cue, or else by checksum and shape. */
export function classifyDigitRuns(text: string, runs: readonly DigitRun[]): Entity[] {
  return runs.flatMap((run) => {
    const numberType = classify(text, run)
    return numberType ? [{ ...numberType, from: run.from, to: run.to }] : []
  })
}

function classify(
  text: string,
  foundRun: DigitRun,
): { type: EntityType; score: number } | undefined {
  if (isMeasured(text, foundRun)) return undefined
  const { digits } = foundRun
  const grouped = isGrouped(text, foundRun)
  const run = grouped ? { ...foundRun, groups: [digits.length] } : foundRun
  const textBefore = withoutCorrected(precedingText(text, run.from, 120)).slice(-CUE_REACH)
  if (isCard(digits)) return { type: 'CREDIT_CARD', score: 1 }
  if (digits.length === 5 && afterState.test(textBefore))
    return { type: 'LOCATION_ZIP', score: 0.9 }
  const partial = partialType(textBefore, digits)
  if (partial) return { type: partial, score: 0.9 }
  const after = owned.exec(text.slice(run.to, run.to + 60))?.[1] ?? ''
  const cue = nearestCue(textBefore, digits.length) ?? nearestCue(after, digits.length)
  if (grouped && !isNumberOf(digits, cue)) return undefined
  if (!cue || !fits(cue.type, run)) return byShape(run)
  const shaped = cue.weak ? byShape(run) : undefined
  if (shaped && shaped.type !== 'NUMERICAL_PII') return shaped
  return { type: cue.type, score: 0.9 }
}

/** The fewest digits that count as a personal number despite commas and without any cue. */
const MIN_GROUPED_DIGITS = 10
/** Cues that only precede numbers, not amounts; "the claim is 12,500" is ambiguous. */
const numbersOnly =
  /\b(?:numbers?|no|id|codes?|pin|digits?|ssn|social|passport|licen[cs]e|zip|cvv2?|extension)\b/i

/**
 * Returns whether digits with commas are a personal number. Recognizers write both numbers and
 * amounts with commas.
 */
function isNumberOf(digits: string, cue: CueMatch | undefined): boolean {
  if (digits.length >= MIN_GROUPED_DIGITS && !isRound(digits)) return true
  if (!cue?.isAdjacent || cue.weak) return false
  return digits.length >= 7 || numbersOnly.test(cue.phrase)
}

const afterState = new RegExp(`\\b(?:${wordList('places/us-states').join('|')}|D\\.?C\\.?),?\\.? $`)

/** The words after a number that determine its type: "… is my social", "… is the order number". */
const owned = /^\W*(?:is|was|that'?s) (?:my|the|his|her|our) ([\w' ]{1,40})/i

function fits(type: EntityType, run: DigitRun): boolean {
  const { length } = run.digits
  if (type === 'SSN') return length === 9 || length === 4
  if (type === 'LOCATION_ZIP') return length === 5 || length === 9
  return type !== 'PHONE_NUMBER' || run.plus || length < 7 || isPhoneShape(run)
}

function byShape(run: DigitRun): { type: EntityType; score: number } | undefined {
  const { digits, groups, plus, spoken } = run
  const length = digits.length
  const shape = groups.join('-')
  // Counting from one to ten is not a personal number.
  if (digits.startsWith('12345678910')) return undefined
  if (plus && length >= 8 && length <= 15) return { type: 'PHONE_NUMBER', score: 0.95 }
  if (length === 9 && shape === '3-2-4' && isSsn(digits)) return { type: 'SSN', score: 0.95 }
  const isWhole = groups.length === 1 || spoken || groups.every((size) => size === 1)
  if (isNorthAmericanPhone(digits) && (isWhole || /^(?:1-)?3-3-(?:4|2-2)$/.test(shape))) {
    return { type: 'PHONE_NUMBER', score: 0.8 }
  }
  if (/^0\d{9,10}$/.test(digits)) return { type: 'PHONE_NUMBER', score: 0.7 }
  if (shape === '3-4' && !spoken) return { type: 'PHONE_NUMBER', score: 0.6 }
  if (length >= 7 && isWhole) return { type: 'NUMERICAL_PII', score: 0.6 }
  return undefined
}

function isCard(digits: string): boolean {
  return /^[2-6]\d{12,18}$/.test(digits) && isLuhn(digits)
}

function isPhoneShape({ digits, groups }: DigitRun): boolean {
  const years = groups.length > 1 && groups.every((size) => size === 4)
  return digits.length >= 7 && digits.length <= 15 && !years
}

const owners =
  /\b(social|ssn|cards?|visa|mastercard|amex|american express|debit|account|phone|cell|pin)\b/gi

/**
 * Returns the type of the last digits of a number: "ending in 4242", "the last four of my social
 * are …".
 */
function partialType(textBefore: string, digits: string): EntityType | undefined {
  if (digits.length < 2 || digits.length > 6) return undefined
  const ending = /\b(?:end(?:ing|s)?(?: in| with)?|last (?:four|4|five|six)(?: digits)?)\b/i
  if (
    !ending.test(textBefore) ||
    (digits.length < 3 && !/\bend(?:ing|s) (?:in|with) $/i.test(textBefore))
  )
    return undefined
  const owner = [...textBefore.matchAll(owners)].at(-1)?.[1]
  if (owner === undefined)
    return /\blast (?:four|4)(?: digits)?\b/i.test(textBefore) ? 'CREDIT_CARD' : undefined
  if (/social|ssn/i.test(owner)) return 'SSN'
  if (/account/i.test(owner)) return 'ACCOUNT_NUMBER'
  if (/pin/i.test(owner)) return 'PASSWORD'
  return /phone|cell/i.test(owner) ? 'PHONE_NUMBER' : 'CREDIT_CARD'
}

function nearestCue(textBefore: string, length: number): CueMatch | undefined {
  let best: (CueMatch & { end: number }) | undefined
  for (const { type, words, digits, close = false, weak = false } of cues) {
    const cue = [...textBefore.matchAll(words)].at(-1)
    if (!cue || length < digits[0] || length > digits[1]) continue
    const end = cue.index + cue[0].length
    const isAdjacent = fillers.test(textBefore.slice(end))
    if (close && !isAdjacent) continue
    const nearer =
      best === undefined || (best.weak && !weak) || (best.weak === weak && end > best.end)
    if (nearer) best = { type, weak, end, phrase: cue[0], isAdjacent }
  }
  return best
}
