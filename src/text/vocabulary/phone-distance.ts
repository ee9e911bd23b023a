/**
 * The distance of two phones, from 0 (the same) to 1: vowels by their place in the mouth,
 * consonants by manner, place and voicing. Weights were set by hand after the articulatory tables
 * of phonetics.
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

/** Pairs of a vowel and a consonant that are nearly one phone. */
const NEAR: Record<string, number> = { 'ER R': 0.3, 'UW W': 0.5, 'IY Y': 0.45, 'IH Y': 0.5 }

/** Phones that speakers drop or add more easily than others. */
const LIGHT: Record<string, number> = { AH: 0.5, HH: 0.65, W: 0.65, Y: 0.65, T: 0.65, D: 0.65 }

const NAMES = [...Object.keys(VOWELS), ...Object.keys(CONSONANTS)]
/** The number of phones; they are numbered from 0. */
export const PHONES = NAMES.length
const NUMBERS = new Map(NAMES.map((name, i) => [name, i]))
const SWAP = Float64Array.from({ length: PHONES * PHONES }, (_, i) => {
  return swapCost(NAMES[Math.floor(i / PHONES)]!, NAMES[i % PHONES]!)
})
const SKIP = Float64Array.from(NAMES, (name) => LIGHT[name] ?? 0.9)
/** The minimum cost of a missing phone. */
export const MIN_SKIP = 0.5

const NOTHING = new Float64Array(PHONES)

/**
 * Reads ARPAbet names separated by spaces. Stress digits are allowed; unknown names are left out.
 */
export function readPhones(names: string): number[] {
  return names.split(' ').flatMap((name) => NUMBERS.get(name.replace(/\d/, '')) ?? [])
}

/** Returns whether a phone is a vowel. */
export function isVowel(phone: number): boolean {
  return NAMES[phone]! in VOWELS
}

/** Returns the cost to substitute one phone for another, 0 to 1. */
export function phoneDistance(a: number, b: number): number {
  return SWAP[a * PHONES + b]!
}

/** Two rows of the table below, reused between calls: a call costs less than an array. */
let [above, row] = [new Float64Array(64), new Float64Array(64)]

/**
 * Returns the minimum cost of each recognized phone when `phones` were spoken: as the closest of
 * them, or as none. This gives a lower bound of the distance to `phones` at a fraction of its cost.
 */
export function minCosts(phones: readonly number[]): Float64Array {
  const min = SKIP.slice()
  for (const phone of phones) {
    for (let recognized = 0; recognized < PHONES; recognized++) {
      const swap = SWAP[phone * PHONES + recognized]!
      if (swap < min[recognized]!) min[recognized] = swap
    }
  }
  return min
}

/** Sums of the same costs in another order differ by less. */
const ROUNDING = 1e-9

/**
 * Returns the weighted edit distance of two rows of phones; Infinity as soon as it is above
 * `limit`. `min` are the `minCosts` of `b`, where they are known. Only the band of the table is
 * filled through which a path can go with so many phones left out on both sides of a cell (Ukkonen,
 * 1985).
 */
export function editDistance(
  a: readonly number[],
  b: readonly number[],
  limit: number,
  min: Float64Array = NOTHING,
): number {
  const width = b.length
  let remainingCost = 0
  const allowed = limit + ROUNDING
  for (let i = 0; i < a.length; i++) {
    remainingCost += min[a[i]!]!
    if (remainingCost > allowed) return Number.POSITIVE_INFINITY
  }
  if (above.length <= width) {
    above = new Float64Array(2 * width)
    row = new Float64Array(2 * width)
  }
  const longer = width - a.length
  const spare = Math.floor((allowed / MIN_SKIP - Math.abs(longer)) / 2)
  if (spare < 0) return Number.POSITIVE_INFINITY
  const before = spare + Math.max(0, -longer)
  const behind = spare + Math.max(0, longer)
  above[0] = 0
  for (let j = 1; j <= Math.min(width, behind); j++) above[j] = above[j - 1]! + SKIP[b[j - 1]!]!
  for (let i = 1; i <= a.length; i++) {
    const phone = a[i - 1]!
    const skip = SKIP[phone]!
    remainingCost -= min[phone]!
    const from = Math.max(1, i - before)
    const to = Math.min(width, i + behind)
    row[from - 1] = from === 1 && i <= before ? above[0]! + skip : Number.POSITIVE_INFINITY
    if (to === i + behind) above[to] = Number.POSITIVE_INFINITY
    let lowest = row[from - 1]!
    let left = lowest
    for (let j = from; j <= to; j++) {
      const otherPhone = b[j - 1]!
      const swap = above[j - 1]! + SWAP[phone * PHONES + otherPhone]!
      const drop = above[j]! + skip
      left += SKIP[otherPhone]!
      if (swap < left) left = swap
      if (drop < left) left = drop
      row[j] = left
      if (left < lowest) lowest = left
    }
    if (lowest + remainingCost > allowed) return Number.POSITIVE_INFINITY
    ;[above, row] = [row, above]
  }
  const cost = above[width]!
  return cost > limit ? Number.POSITIVE_INFINITY : cost
}

function swapCost(a: string, b: string): number {
  if (a === b) return 0
  const near = NEAR[`${a} ${b}`] ?? NEAR[`${b} ${a}`]
  if (near !== undefined) return near
  const [u, v] = [VOWELS[a], VOWELS[b]]
  if (u && v) return Math.min(1, 0.1 + 0.75 * Math.hypot(u[0] - v[0], u[1] - v[1]))
  const [c, d] = [CONSONANTS[a], CONSONANTS[b]]
  if (!c || !d) return 1
  const manner = c[0] === d[0] ? 0 : isHiss(c[0]) && isHiss(d[0]) ? 0.2 : 0.5
  const place = Math.min(0.5, 0.2 * Math.abs(c[1] - d[1]))
  return Math.min(1, manner + place + (c[2] === d[2] ? 0 : 0.25))
}

function isHiss(manner: string): boolean {
  return manner === 'fricative' || manner === 'affricate'
}
