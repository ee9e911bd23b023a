import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const CODE_POINTS = 0x110000

/**
 * Generates any character of Unicode. The characters of `fc.string({ unit: 'binary' })` are the
 * same, but it and `fc.webUrl()` first list all of them, which takes two seconds.
 */
export const characters = fc.nat(CODE_POINTS - SURROGATES.count - 1).map((n) => {
  return String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count)
})
