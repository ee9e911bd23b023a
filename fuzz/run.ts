import { parseArgs } from 'node:util'
import fc from 'fast-check'

/** A run that takes longer hangs: the slowest of them starts a decoder. */
export const HANG_MS = 20_000

/** How a target runs: for so many seconds, and which input of all it tries. */
export function readOptions(): { seconds: number; seed: number } {
  const { values } = parseArgs({
    options: { seconds: { type: 'string' }, seed: { type: 'string' } },
  })
  return { seconds: Number(values.seconds ?? 20), seed: Number(values.seed ?? 1) }
}

/** What a target did. `inputs` and `ways` are those that a guided one kept and found. */
export type Outcome = { name: string; seed: number; runs: number; inputs?: number; ways?: number }

/** Prints what a target did, and what failed; the process then ends with 1. */
export function report(outcome: Outcome, failure?: { input: string; error: unknown }): void {
  const { name, ...rest } = outcome
  console.log(JSON.stringify({ fuzz: name, ...rest, failed: failure !== undefined }))
  if (!failure) return
  console.error(failure.input)
  console.error(failure.error)
  process.exitCode = 1
}

/**
 * Gives `check` as many values as the time allows, but one at least, the same ones for the same
 * seed, and prints one JSON line. The smallest value that it rejects is printed with its error, and
 * the process ends with 1.
 */
export async function fuzz<T>(
  name: string,
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
): Promise<void> {
  const { seconds, seed } = readOptions()
  const property = fc.asyncProperty(values, check)
  const options = { seed, timeout: HANG_MS }
  // A busy machine may take the whole time for the first one.
  const first = await fc.check(property, { ...options, numRuns: 1 })
  const limits = { numRuns: 1e9, interruptAfterTimeLimit: seconds * 1000 }
  const found = first.failed ? first : await fc.check(property, { ...options, ...limits })
  const outcome = { name, seed, runs: Math.max(first.numRuns, found.numRuns) }
  // A run without time for a single value has failed, too, but has found nothing.
  if (!found.failed || found.counterexample === null) return report(outcome)
  report(outcome, { input: fc.stringify(found.counterexample), error: found.errorInstance })
}
