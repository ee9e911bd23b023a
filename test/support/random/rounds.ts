/**
 * The factor of the repetitions in tests of random kills, cuts and attacks: 1 in `npm test`, more
 * in `npm run test:long`.
 */
const FACTOR = Number(process.env.STENO_TEST_ROUNDS ?? 1)

/** Where the random numbers of these tests begin. */
export const SEED = Number(process.env.STENO_TEST_SEED ?? 1)

/** Whether this is the short form of the tests, as `npm test` and `.ci/run` make it. */
export const IS_SHORT = FACTOR <= 1

/** Returns how often to do what is done `count` times in `npm test`. */
export function rounds(count: number): number {
  return Math.ceil(count * FACTOR)
}
