import { isIban, isMedicareIdentifier, isVin } from '../digits/checksums.ts'
import { isSpokenConnector } from '../digits/digit-runs.ts'
import { type Lexeme, readDigits } from '../digits/spoken-digits.ts'
import type { Entity, EntityType } from '../entity-types.ts'

/** Words that announce an identifier of letters and digits. */
const cues: { type: EntityType; words: RegExp }[] = [
  { type: 'PASSPORT_NUMBER', words: /\bpassport(?: number| no\.?)?\b/gi },
  { type: 'DRIVER_LICENSE', words: /\b(?:driver'?s?|driving) licen[cs]e(?: number)?\b/gi },
  {
    type: 'HEALTHCARE_NUMBER',
    words:
      /\b(?:medicare|medicaid|(?:member|subscriber|group|patient|(?<!national )insurance|health plan) (?:id|number)|policy(?: number)?|mrn)\b/gi,
  },
  {
    type: 'VEHICLE_ID',
    words:
      /\b(?:vin|vehicle identification number|(?:licen[cs]e )?plate(?: number)?|number plate|reg(?:istration)?(?: plate| number)?)\b/gi,
  },
  { type: 'BANK_ACCOUNT', words: /\biban\b/gi },
  { type: 'SSN', words: /\b(?:national insurance|n ?i)(?: number)?\b/gi },
  { type: 'LOCATION_ZIP', words: /\b(?:postal|post|zip) ?code\b/gi },
  { type: 'ACCOUNT_NUMBER', words: /\baccount (?:number|id)\b/gi },
  {
    type: 'MEDICAL_CODE',
    words: /\b(?:icd(?:[- ]?(?:10|ten))?|cpt|diagnosis|procedure) codes?\b/gi,
  },
  {
    type: 'NUMERICAL_PII',
    words:
      /\b(?:confirmation|reference|ref|booking|order|tracking|ticket|case|serial|employee|customer|record|invoice|claim|reservation|badge|student|membership|loyalty|authorization|gate|access|unlock|promo|pnr|permit|visa|asset|licen[cs]e|product|key safe|tax)(?: (?:locator|number|code|id|reference|ref|key|tag))*\b/gi,
  },
  { type: 'NUMERICAL_PII', words: /\b(?:the|my|your|his|her|a) (?:code|id|number)\b/gi },
]

const fillers =
  /^(?:number|starts?|begins?|please|yes|yeah|sure|okay|uh|um|well|on|for|your|is|it|it's|that's|ends|with|the|my|would|be|a|code|are|as|follows|of|vehicle|car|van|truck)$/
const marks = new Set(['-', ',', '.', ':', '?'])

const affirmed = /^(?:please|yes|yeah|sure|okay|ok|well)$/

type Code = { text: string; from: number; to: number }

/**
 * Finds identifiers of letters and digits after a cue, and those with a known checksum or shape.
 */
export function findCodes(text: string, lexemes: readonly Lexeme[]): Entity[] {
  const cued = cues.flatMap(({ type, words }) =>
    Array.from(text.matchAll(words), ({ 0: cue, index }) => {
      const code = readCode(lexemes, afterFillers(lexemes, index + cue.length))
      return code && isCode(code.text) ? [{ type, from: code.from, to: code.to, score: 0.9 }] : []
    }).flat(),
  )
  return [...cued, ...findWritten(text), ...findFreephone(text)]
}

const tollFree = '8(?:00|33|44|55|66|77|88)'
/**
 * Numbers of which a part is a word: 1-800-FLOWERS. Without the 1 and a hyphen, the word must be in
 * capitals: an 800-page book, 1 800 pages.
 */
const freephone = new RegExp(
  `(?<![\\w-])(?:1-${tollFree}(?:-[A-Za-z\\d]{1,12}){1,4}|(?:${tollFree}-|1 ${tollFree} )[A-Z]{2,12}(?:-[A-Z\\d]{1,12}){0,3})(?![\\w-])`,
  'g',
)

function findFreephone(text: string): Entity[] {
  return Array.from(text.matchAll(freephone), ({ 0: part, index }) => {
    return { type: 'PHONE_NUMBER', from: index, to: index + part.length, score: 0.9 } as const
  })
}

const written = /\b(?=[A-Z\d -]{0,40}\d)[A-Z\d]{2,34}(?:[ -][A-Z\d]{1,7}){0,9}\b/g

function findWritten(text: string): Entity[] {
  return Array.from(text.matchAll(written), ({ 0: part, index }) => {
    const type = typeOfWritten(part.replace(/[ -]/g, ''))
    return type ? [{ type, from: index, to: index + part.length, score: 1 }] : []
  }).flat()
}

/** British National Insurance numbers, see NIM39110 of HM Revenue & Customs. */
const nationalInsurance = /^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/

function typeOfWritten(code: string): EntityType | undefined {
  if (nationalInsurance.test(code)) return 'SSN'
  if (isIban(code)) return 'BANK_ACCOUNT'
  if (isVin(code)) return 'VEHICLE_ID'
  return isMedicareIdentifier(code) ? 'HEALTHCARE_NUMBER' : undefined
}

/**
 * Returns whether a text is a code: at least four characters, with a digit and a letter. For codes
 * of only digits see numbers.ts.
 */
function isCode(code: string): boolean {
  return code.length >= 4 && /\d/.test(code) && /[A-Z]/.test(code)
}

function afterFillers(lexemes: readonly Lexeme[], offset: number): number {
  const first = lexemes.findIndex(({ from }) => from >= offset)
  if (first < 0) return lexemes.length
  let at = afterQuestion(lexemes, first)
  for (let passed = 0; passed < 8; passed++) {
    const { text, lower } = lexemes[at] ?? { text: '', lower: '' }
    if (!fillers.test(lower) && !marks.has(text)) break
    // A capital A is part of the code. A full stop ends the sentence of the cue, except after a
    // "Yes."
    if (text === 'A' || (text === '.' && !affirmed.test(lexemes[at - 1]?.lower ?? ''))) break
    at++
  }
  return at
}

/** The longest rest of a question, in words: "… your policy number in front of you?" */
const MAX_REST_WORDS = 6

/** Returns the index after the question that a lexeme continues, or else the same index. */
function afterQuestion(lexemes: readonly Lexeme[], at: number): number {
  const rest = lexemes.slice(at, at + MAX_REST_WORDS + 1)
  const end = rest.findIndex(({ text }) => !/^\p{Ll}/u.test(text))
  return rest[end]?.text === '?' ? at + end + 1 : at
}

/** Reads a sequence of capitals, digits, spelled letters ("B as in boy") and spoken digits. */
function readCode(lexemes: readonly Lexeme[], begin: number): Code | undefined {
  let at = begin
  let text = ''
  let to = 0
  while (at < lexemes.length && text.length < 40) {
    const read = readSign(lexemes, at, text !== '')
    if (read) {
      text += read.sign
      at += read.count
      to = lexemes[at - 1]!.to
    } else if (text !== '' && isJoint(lexemes, at)) at++
    else if (text !== '' && saysHoldOn(lexemes, at)) at += 2
    else break
  }
  return text === '' ? undefined : { text, from: lexemes[begin]!.from, to }
}

/** Returns whether the speaker looks up the rest of a code: "C L. Hold on. Eight eight two." */
function saysHoldOn(lexemes: readonly Lexeme[], at: number): boolean {
  return /^(?:hold|hang)$/.test(lexemes[at]!.lower) && lexemes[at + 1]?.lower === 'on'
}

/** Words of the spelling alphabet of radio and telephone (ICAO Annex 10). */
const radioWords = new Set([
  ...['alpha', 'alfa', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india'],
  ...['juliet', 'juliett', 'kilo', 'lima', 'mike', 'november', 'oscar', 'papa', 'quebec', 'romeo'],
  ...['sierra', 'tango', 'uniform', 'victor', 'whiskey', 'whisky', 'yankee', 'zulu'],
])

function isJoint(lexemes: readonly Lexeme[], at: number): boolean {
  const { text, lower } = lexemes[at]!
  return (marks.has(text) && text !== ':' && text !== '?') || isSpokenConnector(lower)
}

/**
 * Returns the number of lexemes of a letter with a word that begins with it: "B as in boy", "K, as
 * in kilo", "G for golf".
 */
function countSpelled(lexemes: readonly Lexeme[], at: number): number | undefined {
  const first = lexemes[at + 1]?.text === ',' ? at + 2 : at + 1
  const isAsIn = lexemes[first]?.lower === 'as' && lexemes[first + 1]?.lower === 'in'
  if (isAsIn && lexemes[first + 2]) return first + 3 - at
  const word = lexemes[first + 1]
  if (lexemes[first]?.lower !== 'for' || !word) return undefined
  // "The code is 4 4 B, for Monday" goes on with something else.
  if (first > at + 1 && !word.lower.startsWith(lexemes[at]!.lower)) return undefined
  return /^\p{Lu}/u.test(word.text) || radioWords.has(word.lower) ? first + 2 - at : undefined
}

function readSign(lexemes: readonly Lexeme[], at: number, inside: boolean) {
  const digits = readDigits(lexemes, at, inside)
  if (digits) return { sign: digits.digits, count: digits.count }
  const { text, lower } = lexemes[at]!
  if (lower === 'x' && lexemes[at + 1]?.text === '-' && lexemes[at + 2]?.lower === 'ray')
    return { sign: 'X', count: 3 }
  if (radioWords.has(lower)) return { sign: lower[0]!.toUpperCase(), count: 1 }
  const spelled = /^\p{L}$/u.test(text) ? countSpelled(lexemes, at) : undefined
  if (spelled) return { sign: text.toUpperCase(), count: spelled }
  const next = lexemes[at + 1]
  if (/^[A-Z]$/.test(text) && (!/^[a-z]/.test(next?.text ?? '') || isSpokenConnector(next!.lower)))
    return { sign: text, count: 1 }
  if (/^[A-Z]$/.test(text) && readDigits(lexemes, at + 1, false)) return { sign: text, count: 1 }
  let after = at + 1
  while (after < lexemes.length && isJoint(lexemes, after)) after++
  const besideDigits =
    readDigits(lexemes, after, false) !== undefined || /^\d/.test(lexemes[at - 1]?.text ?? '')
  return /^[A-Z]{2,6}$/.test(text) && besideDigits ? { sign: text, count: 1 } : undefined
}
