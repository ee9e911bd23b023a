import { parseArgs } from 'node:util'
import fc from 'fast-check'

/** A run that takes longer hangs: the slowest of them starts a decoder. */
const HANG_MS = 20_000

/**
 * Gives `judge` as many values as the time allows, the same ones for the same seed, and prints one JSON
 * line. The smallest value that it rejects is printed with its error, and the process ends with 1.
 */
export async function fuzz<T>(
  name: string,
  values: fc.Arbitrary<T>,
  judge: (value: T) => Promise<void>,
): Promise<void> {
  const { values: options } = parseArgs({
    options: { seconds: { type: 'string' }, seed: { type: 'string' } },
  })
  const [seconds, seed] = [Number(options.seconds ?? 20), Number(options.seed ?? 1)]
  const found = await fc.check(fc.asyncProperty(values, judge), {
    seed,
    numRuns: 1e9,
    interruptAfterTimeLimit: seconds * 1000,
    timeout: HANG_MS,
  })
  console.log(JSON.stringify({ fuzz: name, seed, runs: found.numRuns, failed: found.failed }))
  if (!found.failed) return
  console.error(fc.stringify(found.counterexample))
  console.error(found.errorInstance)
  process.exitCode = 1
}
