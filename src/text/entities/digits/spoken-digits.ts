const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const teenWords = [
  ...['ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen'],
  ...['eighteen', 'nineteen'],
]
const tenWords = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']

const unitDigits = new Map(words.map((word, i) => [word, String(i)]))
for (const zero of ['nought', 'naught']) unitDigits.set(zero, '0')
const teenDigits = new Map(teenWords.map((word, i) => [word, String(i + 10)]))
const tenDigits = new Map(tenWords.map((word, i) => [word, String(i + 2)]))
const repeats = new Map([
  ['double', 2],
  ['triple', 3],
  ['treble', 3],
])

/** A word, a sequence of digits or a symbol of a text; `from` and `to` (exclusive) are offsets. */
export type Lexeme = { text: string; lower: string; from: number; to: number }

/** Returns the words, sequences of digits and symbols of a text, in order. */
export function lexemesOf(text: string): Lexeme[] {
  const lexemeMatches = text.matchAll(
    /\d+|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}[\p{L}\p{M}]*)?|[^\s\d\p{L}]/gu,
  )
  return Array.from(lexemeMatches, ({ 0: part, index }) => ({
    text: part,
    lower: part.toLowerCase(),
    from: index,
    to: index + part.length,
  }))
}

/**
 * Reads the digits that begin at a lexeme, and how many lexemes they take. Inside a run (`inside`),
 * "oh" is a zero, too.
 */
export function readDigits(
  lexemes: readonly Lexeme[],
  at: number,
  inside: boolean,
): { digits: string; count: number } | undefined {
  const lower = lexemes[at]?.lower
  if (lower === undefined) return undefined
  if (/^\d+$/.test(lower)) return { digits: lower, count: 1 }
  const next = lexemes[at + 1]?.lower ?? ''
  const unit = unitDigits.get(lower) ?? zeroOf(lower, inside || saysDigit(next))
  if (unit !== undefined) {
    const hundred = next === 'hundred' && !lexemes[at + 2]?.lower.startsWith('and')
    return hundred ? { digits: `${unit}00`, count: 2 } : { digits: unit, count: 1 }
  }
  const teen = teenDigits.get(lower)
  if (teen !== undefined) return { digits: teen, count: 1 }
  const ten = tenDigits.get(lower)
  if (ten !== undefined) return readTens(ten, lexemes, at)
  const repeat = repeats.get(lower)
  const repeated =
    unitDigits.get(next) ?? zeroOf(next, true) ?? (/^\d$/.test(next) ? next : undefined)
  if (repeat === undefined || repeated === undefined) return undefined
  return { digits: repeated.repeat(repeat), count: 2 }
}

function readTens(ten: string, lexemes: readonly Lexeme[], at: number) {
  const dashed = lexemes[at + 1]?.text === '-' ? 1 : 0
  const unit = unitDigits.get(lexemes[at + 1 + dashed]?.lower ?? '')
  if (unit === undefined || unit === '0') return { digits: `${ten}0`, count: 1 }
  return { digits: ten + unit, count: 2 + dashed }
}

function zeroOf(word: string, allowed: boolean): string | undefined {
  return allowed && (word === 'oh' || word === 'o') ? '0' : undefined
}

function saysDigit(word: string): boolean {
  return unitDigits.has(word) || repeats.has(word) || zeroOf(word, true) !== undefined
}
