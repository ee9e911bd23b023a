import { isGrouped, isMeasured, isRound, isSpent } from '../entities/amounts/amount-runs.ts'
import { questionOf } from '../entities/context/question-context.ts'
import { isLuhn } from '../entities/digits/checksums.ts'
import { type DigitRun, digitRuns } from '../entities/digits/digit-runs.ts'
import { lexemesOf } from '../entities/digits/spoken-digits.ts'
import type { Interjection } from '../entities/document.ts'
import type { Entity, EntityType } from '../entities/entity-types.ts'
import { CUE_REACH } from '../entities/matching/matching.ts'

type DigitCounts = { type: EntityType; digits: readonly [number, number] }

/**
 * Candidate types of a number whose type is unknown: the first requested one whose numbers can have
 * so many digits.
 */
const ranges: readonly DigitCounts[] = [
  { type: 'CREDIT_CARD', digits: [12, 19] },
  { type: 'SSN', digits: [9, 9] },
  { type: 'PHONE_NUMBER', digits: [10, 11] },
  { type: 'NUMERICAL_PII', digits: [7, Infinity] },
  // Some digits more or fewer are allowed: the recognizer repeats or drops some.
  { type: 'CREDIT_CARD', digits: [11, 30] },
  { type: 'PHONE_NUMBER', digits: [7, 15] },
  { type: 'BANK_ACCOUNT', digits: [8, 34] },
  { type: 'ACCOUNT_NUMBER', digits: [7, 20] },
  { type: 'ROUTING_NUMBER', digits: [8, 10] },
  { type: 'SSN', digits: [8, 10] },
  { type: 'HEALTHCARE_NUMBER', digits: [8, 15] },
  { type: 'PASSPORT_NUMBER', digits: [8, 9] },
  { type: 'DRIVER_LICENSE', digits: [7, 14] },
  { type: 'ORGANIZATION_ID', digits: [8, 12] },
]

type Search = {
  found: readonly Entity[]
  wanted: ReadonlySet<EntityType>
  interjections?: readonly Interjection[]
}

/** Words near which fewer digits are enough. */
const cues: readonly { types: readonly EntityType[]; words: RegExp }[] = [
  { types: ['CREDIT_CARD'], words: /\b(?:cards?|visa|mastercard|amex)\b/i },
  { types: ['BANK_ACCOUNT', 'ACCOUNT_NUMBER'], words: /\b(?:account|iban)\b/i },
  { types: ['ROUTING_NUMBER'], words: /\brouting\b/i },
  { types: ['SSN'], words: /\b(?:social|ssn)\b/i },
  { types: ['PHONE_NUMBER'], words: /\bphone\b|\b(?:phone|cell|mobile|fax) number\b/i },
]
const MIN_DIGITS_NEAR_CUE = 4
/** Grouped digits are not an amount if there are at least this many. */
const MIN_GROUPED_DIGITS = 10

/** Words between two parts of a number. */
const fillers =
  /^[\s,.…-]*(?:(?:um|uh|er|huh|mm|hmm|mhm|okay|ok|and|then|so|yes|yeah|yep|right|all right|alright|sure|got it|go on|go ahead|thanks|thank you|sorry|no|wait|that's|it's|is|next|again|space|dash)[\s,.…-]*){0,4}$/i

/**
 * Finds digits that no rule classifies: in odd groups, with words between them, too many or too
 * few. They are considered a number of a requested type if there are enough of them. Amounts, dates
 * and numbers of types that are not requested are excluded.
 */
export function findStrayNumbers(
  text: string,
  { found, wanted, interjections = [] }: Search,
): Entity[] {
  const otherEntities = found.filter(({ type }) => type !== 'NUMERICAL_PII' && !wanted.has(type))
  const runs = findNumbers(text, found).filter((run) => {
    return !isAmount(text, run) && !otherEntities.some(overlaps(run))
  })
  const cueBefore = cueReader(text, interjections)
  const chains = chainsOf(text, runs).flatMap((chain) => {
    if (chain.every((run) => isSpent(text, run))) return []
    const digits = chain.map((run) => run.digits).join('')
    const type = typeOf(cueBefore(chain[0]!.from), digits, wanted)
    return type ? chain.map(({ from, to }) => ({ type, from, to, score: 0.1 })) : []
  })
  return wanted.has('CREDIT_CARD') ? [...chains, ...findScattered(runs)] : chains
}

/**
 * Returns a function for the text in which a number has its cue, with the questions of other
 * channels. Its calls must be by ascending offset.
 */
function cueReader(text: string, interjections: readonly Interjection[]) {
  let next = 0
  return (offset: number): string => {
    let from = Math.max(0, offset - CUE_REACH)
    while (next < interjections.length && interjections[next]!.at < from) next++
    let before = ''
    for (let i = next; i < interjections.length && interjections[i]!.at <= offset; i++) {
      const { at, text: phrase } = interjections[i]!
      before += `${text.slice(from, at)}${questionOf(phrase) ?? ''} `
      from = at
    }
    return (before + text.slice(from, offset)).slice(-CUE_REACH)
  }
}

/** The longest text between two parts of a card number, in characters. */
const MAX_DISTANCE_CHARS = 200

/**
 * Finds card numbers in parts with other speech between them, by their checksum: "4111. Hold on,
 * please. 1111. …".
 */
function findScattered(runs: readonly DigitRun[]): Entity[] {
  const parts = runs.filter(({ digits }) => digits.length >= 3)
  return parts.flatMap((first, at) => {
    let digits = first.digits
    for (let next = at + 1; next < parts.length; next++) {
      const part = parts[next]!
      digits += part.digits
      if (digits.length > 19 || part.from - parts[next - 1]!.to > MAX_DISTANCE_CHARS) break
      if (digits.length < 13 || !/^[3-6]/.test(digits) || !isLuhn(digits)) continue
      return parts
        .slice(at, next + 1)
        .map(({ from, to }) => ({ type: 'CREDIT_CARD' as const, from, to, score: 0.2 }))
    }
    return []
  })
}

/** Returns sequences of digits that may be a personal number: no quantities, and no dates. */
export function findNumbers(text: string, foundEntities: readonly Entity[]): DigitRun[] {
  const measures = foundEntities.filter(({ type }) => isMeasure(type))
  return digitRuns(lexemesOf(text)).filter((run) => {
    return !isMeasured(text, run) && !measures.some(overlaps(run))
  })
}

function overlaps(run: DigitRun): (entity: Entity) => boolean {
  return ({ from, to }) => from < run.to && to > run.from
}

/** Returns whether the numbers of a type are quantities that belong to nobody. */
function isMeasure(type: EntityType): boolean {
  return /^(?:DATE|DAY|MONTH|YEAR|TIME|DURATION|AGE|MONEY|STATISTICS|DOSE)/.test(type)
}

function isAmount(text: string, run: DigitRun): boolean {
  return isGrouped(text, run) && (run.digits.length < MIN_GROUPED_DIGITS || isRound(run.digits))
}

function chainsOf(text: string, runs: readonly DigitRun[]): DigitRun[][] {
  const chains: DigitRun[][] = []
  for (const run of runs) {
    const chain = chains.at(-1)
    if (chain && fillers.test(text.slice(chain.at(-1)!.to, run.from))) chain.push(run)
    else chains.push([run])
  }
  return chains
}

function typeOf(
  textBefore: string,
  digits: string,
  requestedTypes: ReadonlySet<EntityType>,
): EntityType | undefined {
  // Counting from one to ten is not a personal number.
  if (digits.startsWith('12345678910')) return undefined
  if (digits.length >= MIN_DIGITS_NEAR_CUE) {
    for (const { types, words } of cues) {
      const type = words.test(textBefore)
        ? types.find((candidateType) => requestedTypes.has(candidateType))
        : undefined
      if (type) return type
    }
  }
  return ranges.find(({ type, digits: [fewest, max] }) => {
    return requestedTypes.has(type) && digits.length >= fewest && digits.length <= max
  })?.type
}
