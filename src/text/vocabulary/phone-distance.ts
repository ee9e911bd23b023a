/**
 * The distance between two phones, from 0 (the same) to 1: vowels differ by height and backness,
 * consonants by manner, place and voicing. The weights were set by hand from the articulatory
 * charts of phonetics.
 */

/** Vowels of ARPAbet: height from 0 (open) to 1 (closed), backness from 0 (front) to 1 (back). */
const VOWELS: Record<string, [number, number]> = {
  IY: [1, 0],
  IH: [0.85, 0.15],
  EY: [0.7, 0.05],
  EH: [0.5, 0.1],
  AE: [0.25, 0.15],
  AA: [0, 0.7],
  AH: [0.4, 0.5],
  AO: [0.3, 0.9],
  OW: [0.6, 0.95],
  UH: [0.85, 0.8],
  UW: [1, 1],
  ER: [0.5, 0.45],
  AY: [0.35, 0.35],
  AW: [0.25, 0.65],
  OY: [0.6, 0.65],
}

/** Consonants: manner, place from the lips (0) to the throat (6), voicing. */
const CONSONANTS: Record<string, [string, number, boolean]> = {
  P: ['stop', 0, false],
  B: ['stop', 0, true],
  T: ['stop', 3, false],
  D: ['stop', 3, true],
  K: ['stop', 5, false],
  G: ['stop', 5, true],
  CH: ['affricate', 4, false],
  JH: ['affricate', 4, true],
  F: ['fricative', 1, false],
  V: ['fricative', 1, true],
  TH: ['fricative', 2, false],
  DH: ['fricative', 2, true],
  S: ['fricative', 3, false],
  Z: ['fricative', 3, true],
  SH: ['fricative', 4, false],
  ZH: ['fricative', 4, true],
  HH: ['fricative', 6, false],
  M: ['nasal', 0, true],
  N: ['nasal', 3, true],
  NG: ['nasal', 5, true],
  L: ['liquid', 3, true],
  R: ['liquid', 4, true],
  W: ['glide', 0, true],
  Y: ['glide', 4, true],
}

/** The distances of vowels and consonants that sound nearly the same. */
const SIMILAR_PAIRS: Record<string, number> = {
  'ER R': 0.3,
  'UW W': 0.5,
  'IY Y': 0.45,
  'IH Y': 0.5,
}

/** The gap costs of phones that speakers drop or add more easily than others. */
const EASILY_DROPPED: Record<string, number> = {
  AH: 0.5,
  HH: 0.65,
  W: 0.65,
  Y: 0.65,
  T: 0.65,
  D: 0.65,
}

const PHONE_NAMES = [...Object.keys(VOWELS), ...Object.keys(CONSONANTS)]
/** The number of phones; they are numbered from 0. */
export const PHONE_COUNT = PHONE_NAMES.length
const NUMBERS_BY_NAME = new Map(PHONE_NAMES.map((name, i) => [name, i]))
/** The cost of each pair of phones, at the index `a * PHONE_COUNT + b`. */
const SUBSTITUTION_COSTS = Float64Array.from({ length: PHONE_COUNT * PHONE_COUNT }, (_, i) => {
  return substitutionCost(PHONE_NAMES[Math.floor(i / PHONE_COUNT)]!, PHONE_NAMES[i % PHONE_COUNT]!)
})
/** The cost of each phone that only one of two pronunciations has. */
const GAP_COSTS = Float64Array.from(PHONE_NAMES, (name) => EASILY_DROPPED[name] ?? 0.9)
/** The smallest gap cost of all phones. */
export const MIN_GAP_COST = 0.5

const ZERO_COSTS = new Float64Array(PHONE_COUNT)

/**
 * Reads ARPAbet names separated by spaces. Stress digits are allowed; unknown names are ignored.
 */
export function readPhones(names: string): number[] {
  return names.split(' ').flatMap((name) => NUMBERS_BY_NAME.get(name.replace(/\d/, '')) ?? [])
}

/** Returns whether a phone is a vowel. */
export function isVowel(phone: number): boolean {
  return PHONE_NAMES[phone]! in VOWELS
}

/** Returns the cost to substitute one phone for another, 0 to 1. */
export function phoneDistance(a: number, b: number): number {
  return SUBSTITUTION_COSTS[a * PHONE_COUNT + b]!
}

/** Two rows of the table of `editDistance`, reused because a call takes less time than an array. */
let [previousRow, currentRow] = [new Float64Array(64), new Float64Array(64)]

/**
 * Returns, for each phone, its minimum cost in an edit distance to `phones`: that of its closest
 * phone there, or its gap cost. Their sum is a lower bound of the distance, which takes a fraction
 * of the time.
 */
export function minCosts(phones: readonly number[]): Float64Array {
  const min = GAP_COSTS.slice()
  for (const phone of phones) {
    for (let recognized = 0; recognized < PHONE_COUNT; recognized++) {
      const substitution = SUBSTITUTION_COSTS[phone * PHONE_COUNT + recognized]!
      if (substitution < min[recognized]!) min[recognized] = substitution
    }
  }
  return min
}

/** Sums of the same costs, added in different orders, differ by less than this. */
const ROUNDING_ERROR = 1e-9

/**
 * Returns the weighted edit distance of two sequences of phones, or Infinity if it exceeds `limit`.
 * `min` holds the `minCosts` of `b`, if the caller knows them. The function fills only the diagonal
 * band of the table that paths within the limit can reach (Ukkonen, 1985).
 */
export function editDistance(
  a: readonly number[],
  b: readonly number[],
  limit: number,
  min: Float64Array = ZERO_COSTS,
): number {
  const width = b.length
  let remainingCost = 0
  const allowed = limit + ROUNDING_ERROR
  for (let i = 0; i < a.length; i++) {
    remainingCost += min[a[i]!]!
    if (remainingCost > allowed) return Number.POSITIVE_INFINITY
  }
  if (previousRow.length <= width) {
    previousRow = new Float64Array(2 * width)
    currentRow = new Float64Array(2 * width)
  }
  const lengthDifference = width - a.length
  const extraGaps = Math.floor((allowed / MIN_GAP_COST - Math.abs(lengthDifference)) / 2)
  if (extraGaps < 0) return Number.POSITIVE_INFINITY
  const bandBefore = extraGaps + Math.max(0, -lengthDifference)
  const bandAfter = extraGaps + Math.max(0, lengthDifference)
  previousRow[0] = 0
  for (let j = 1; j <= Math.min(width, bandAfter); j++)
    previousRow[j] = previousRow[j - 1]! + GAP_COSTS[b[j - 1]!]!
  for (let i = 1; i <= a.length; i++) {
    const phone = a[i - 1]!
    const gapCost = GAP_COSTS[phone]!
    remainingCost -= min[phone]!
    const from = Math.max(1, i - bandBefore)
    const to = Math.min(width, i + bandAfter)
    currentRow[from - 1] =
      from === 1 && i <= bandBefore ? previousRow[0]! + gapCost : Number.POSITIVE_INFINITY
    if (to === i + bandAfter) previousRow[to] = Number.POSITIVE_INFINITY
    let rowMinimum = currentRow[from - 1]!
    let cellCost = rowMinimum
    for (let j = from; j <= to; j++) {
      const otherPhone = b[j - 1]!
      const substitution =
        previousRow[j - 1]! + SUBSTITUTION_COSTS[phone * PHONE_COUNT + otherPhone]!
      const deletion = previousRow[j]! + gapCost
      cellCost += GAP_COSTS[otherPhone]!
      if (substitution < cellCost) cellCost = substitution
      if (deletion < cellCost) cellCost = deletion
      currentRow[j] = cellCost
      if (cellCost < rowMinimum) rowMinimum = cellCost
    }
    if (rowMinimum + remainingCost > allowed) return Number.POSITIVE_INFINITY
    ;[previousRow, currentRow] = [currentRow, previousRow]
  }
  const cost = previousRow[width]!
  return cost > limit ? Number.POSITIVE_INFINITY : cost
}

function substitutionCost(a: string, b: string): number {
  if (a === b) return 0
  const listedCost = SIMILAR_PAIRS[`${a} ${b}`] ?? SIMILAR_PAIRS[`${b} ${a}`]
  if (listedCost !== undefined) return listedCost
  const [u, v] = [VOWELS[a], VOWELS[b]]
  if (u && v) return Math.min(1, 0.1 + 0.75 * Math.hypot(u[0] - v[0], u[1] - v[1]))
  const [c, d] = [CONSONANTS[a], CONSONANTS[b]]
  if (!c || !d) return 1
  const manner =
    c[0] === d[0] ? 0 : isFricativeOrAffricate(c[0]) && isFricativeOrAffricate(d[0]) ? 0.2 : 0.5
  const place = Math.min(0.5, 0.2 * Math.abs(c[1] - d[1]))
  return Math.min(1, manner + place + (c[2] === d[2] ? 0 : 0.25))
}

function isFricativeOrAffricate(manner: string): boolean {
  return manner === 'fricative' || manner === 'affricate'
}
