import { parseArgs } from 'node:util'
import fc from 'fast-check'

/** The timeout of one run, which counts as a hang; the slowest runs start a decoder. */
export const HANG_MS = 20_000

/** Returns the seconds that a target runs, and the seed of its inputs. */
export function readOptions(): { seconds: number; seed: number } {
  const { values } = parseArgs({
    options: { seconds: { type: 'string' }, seed: { type: 'string' } },
  })
  return { seconds: Number(values.seconds ?? 20), seed: Number(values.seed ?? 1) }
}

/**
 * The outcome of a target. `inputs` are those that a guided target kept, `edges` the coverage that
 * it found.
 */
export type Outcome = { name: string; seed: number; runs: number; inputs?: number; edges?: number }

/** Prints the outcome of a target, and its failure; the process then exits with 1. */
export function report(outcome: Outcome, failure?: { input: string; error: unknown }): void {
  const { name, ...rest } = outcome
  console.log(JSON.stringify({ fuzz: name, ...rest, failed: failure !== undefined }))
  if (!failure) return
  console.error(failure.input)
  console.error(failure.error)
  process.exitCode = 1
}

/**
 * Runs `check` on as many values as the time allows, at least one, the same ones for the same seed,
 * and prints one JSON line. If it fails, the smallest failing value is printed with its error, and
 * the process exits with 1.
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
