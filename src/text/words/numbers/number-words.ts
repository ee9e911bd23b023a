const UNITS = 'zero one two three four five six seven eight nine'.split(' ')
const TEENS =
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ')
const TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const BELOW_TWENTY = [...UNITS, ...TEENS]
const SCALES: readonly [name: string, value: number][] = [
  ['trillion', 1e12],
  ['billion', 1e9],
  ['million', 1e6],
  ['thousand', 1e3],
]

const IRREGULAR_ORDINALS: Record<string, string> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}

const cardinals = new Map<string, number>([
  ...BELOW_TWENTY.map((name, value) => [name, value] as const),
  ...TENS.slice(2).map((name, i) => [name, 10 * (i + 2)] as const),
])
const ordinals = new Map<string, number>(
  [...cardinals].map(([name, value]) => [toOrdinal(name), value]),
)
const scales = new Map<string, number>(SCALES)

/** A number read from words. `words` is how many words it consists of. */
export type SpokenNumber = { value: number; words: number; isOrdinal: boolean }

/**
 * Reads the English number with which a list of lower-case words begins: three hundred and fifty,
 * twenty-first, nineteen eighty-four. Returns undefined if they begin with none. `previous` is the
 * number before them, if there is one.
 */
export function parseSpokenNumber(
  words: readonly string[],
  { previous }: { previous?: number | undefined } = {},
): SpokenNumber | undefined {
  return readYear(words, previous) ?? readCardinal(words)
}

/** Reads two numbers below a hundred that form a year: fourteen fifty-five, nineteen oh five. */
function readYear(words: readonly string[], previous?: number): SpokenNumber | undefined {
  const first = readBelowHundred(words)
  if (!first || first.isOrdinal || first.value < 11 || first.value > 20) return undefined
  const remainingWords = words.slice(first.words)
  const isZero = remainingWords[0] === 'oh'
  const second = readBelowHundred(isZero ? remainingWords.slice(1) : remainingWords)
  if (!second || second.isOrdinal) return undefined
  if (isZero ? second.value === 0 || second.value > 9 : second.value < 10) return undefined
  const count = first.words + second.words + (isZero ? 1 : 0)
  // In "thirteen fourteen fifteen", someone counts; it is not a year.
  if (cardinals.has(words[count] ?? '')) return undefined
  const isNext = second.value === first.value + 1
  if (isNext && (previous === first.value - 1 || first.value < 13)) return undefined
  return { value: 100 * first.value + second.value, words: count, isOrdinal: false }
}

/**
 * Two numbers below a hundred, one after the other: two fifty, two oh five. `words` counts those of
 * both, and "oh".
 */
export type NumberPair = { first: number; second: number; words: number; hasOh: boolean }

/** Reads the two numbers below a hundred with which a list of lower-case words begins. */
export function parseNumberPair(words: readonly string[]): NumberPair | undefined {
  const first = readBelowHundred(words)
  const hasOh = words[first?.words ?? 0] === 'oh'
  const from = (first?.words ?? 0) + (hasOh ? 1 : 0)
  const second = first && readBelowHundred(words.slice(from))
  if (!second || first.isOrdinal || second.isOrdinal) return undefined
  if (hasOh && (second.value < 1 || second.value > 9)) return undefined
  return { first: first.value, second: second.value, words: from + second.words, hasOh }
}

function readCardinal(words: readonly string[]): SpokenNumber | undefined {
  let [total, group, at] = [0, 0, 0]
  let lowest = Number.POSITIVE_INFINITY
  const readings: SpokenNumber[] = []
  const isLarge = (word: string | undefined) => word === 'hundred' || scales.has(word ?? '')
  for (;;) {
    const word = words[at]
    const scale = scales.get(word ?? '')
    if (word === 'hundred' && group > 0 && group < 100) {
      group *= 100
      at++
    } else if (scale !== undefined && group > 0 && scale < lowest) {
      total += group * scale
      group = 0
      lowest = scale
      at++
    } else {
      const from = word === 'and' && at > 0 && isLarge(words[at - 1]) ? at + 1 : at
      const next = readBelowHundred(words.slice(from))
      const fits = group === 0 ? at === 0 || isLarge(words[at - 1]) : group >= 100
      if (!next || !fits || group % 100 !== 0 || (next.value === 0 && at > 0)) break
      // In "one eight hundred five five five", single digits follow the hundred.
      if (from === at && at > 0 && isDigit(words[at]) && isDigit(words[at + 1])) break
      group += next.value
      at = from + next.words
      if (next.isOrdinal) return { value: total + group, words: at, isOrdinal: true }
    }
    readings.push({ value: total + group, words: at, isOrdinal: false })
  }
  // In "two hundred and three hundred", the "three" belongs to the next number.
  const isFollowedByScale = at > 0 && isLarge(words[at])
  const fits = (reading: SpokenNumber) => !isFollowedByScale || continuesNumber(words, reading, at)
  return readings.findLast(fits) ?? readings.at(-1)
}

/** Returns whether the words after a reading begin a number that ends after the index `at`. */
function continuesNumber(
  words: readonly string[],
  { words: count }: SpokenNumber,
  at: number,
): boolean {
  const from = words[count] === 'and' ? count + 1 : count
  return from + (readCardinal(words.slice(from))?.words ?? 0) > at
}

function isDigit(word = ''): boolean {
  return (cardinals.get(word) ?? 10) < 10
}

function readBelowHundred(words: readonly string[]): SpokenNumber | undefined {
  const [first = '', second = ''] = words
  const tens = cardinals.get(first)
  if (tens === undefined) {
    const value = ordinals.get(first)
    return value === undefined ? undefined : { value, words: 1, isOrdinal: true }
  }
  if (tens >= 20) {
    const cardinal = cardinals.get(second)
    if (cardinal !== undefined && cardinal > 0 && cardinal < 10)
      return { value: tens + cardinal, words: 2, isOrdinal: false }
    const last = ordinals.get(second)
    if (last !== undefined && last > 0 && last < 10)
      return { value: tens + last, words: 2, isOrdinal: true }
  }
  return { value: tens, words: 1, isOrdinal: false }
}

/** Writes a number in digits: 7, 1455, 125,000, 21st. */
export function writeDigits(value: number, { isOrdinal = false } = {}): string {
  const digits = value >= 10_000 ? value.toLocaleString('en-US') : String(value)
  return isOrdinal ? digits + ordinalSuffix(value) : digits
}

function ordinalSuffix(value: number): string {
  const last = value % 100
  if (last >= 11 && last <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][last % 10] ?? 'th'
}

/** Writes a whole number below a quadrillion in words: three hundred fifty, twenty-one. */
export function writeWords(value: number, { isOrdinal = false } = {}): string {
  const words: string[] = []
  let remainder = value
  for (const [name, scale] of SCALES) {
    if (remainder >= scale) words.push(writeBelowThousand(Math.floor(remainder / scale)), name)
    remainder %= scale
  }
  if (remainder > 0 || words.length === 0) words.push(writeBelowThousand(remainder))
  const text = words.join(' ')
  return isOrdinal ? toOrdinal(text) : text
}

/** Writes a year in words: nineteen eighty-four, nineteen hundred, two thousand five. */
export function writeYear(value: number): string {
  const [century, yearInCentury] = [Math.floor(value / 100), value % 100]
  if (century === 20 && yearInCentury < 10) return writeWords(value)
  if (yearInCentury === 0) return `${writeWords(century)} hundred`
  return `${writeWords(century)} ${yearInCentury < 10 ? `oh ${writeWords(yearInCentury)}` : writeWords(yearInCentury)}`
}

function writeBelowThousand(value: number): string {
  const remainder = value % 100
  const tens =
    BELOW_TWENTY[remainder] ??
    [TENS[Math.floor(remainder / 10)], BELOW_TWENTY[remainder % 10]].join('-')
  const below = remainder >= 20 && remainder % 10 === 0 ? TENS[remainder / 10]! : tens
  if (value < 100) return below
  const hundreds = `${BELOW_TWENTY[Math.floor(value / 100)]} hundred`
  return remainder === 0 ? hundreds : `${hundreds} ${below}`
}

function toOrdinal(text: string): string {
  const [, before, last] = /^(.*?)([a-z]+)$/.exec(text)!
  const ending =
    IRREGULAR_ORDINALS[last!] ?? (last!.endsWith('y') ? `${last!.slice(0, -1)}ieth` : `${last}th`)
  return before! + ending
}
