import { createRandom } from '../test/support/random/random.ts'
import { watchCoverage } from './coverage.ts'
import { edited } from './mutations.ts'
import { HANG_MS, type Outcome, readOptions, report } from './run.ts'

/** The longest input; longer ones reach no further code. */
const MAX_BYTES = 1_000_000
/** Attempts to find a smaller input that fails too. */
const MAX_SHRINKS = 400

/** Some bytes, and which reader they are for. */
type Input<Kind> = { kind: Kind; bytes: Buffer }

/** Throws if a reader misbehaves on some bytes. */
export type Check<Kind extends string> = (bytes: Buffer, kind: Kind) => void | Promise<void>

/**
 * Runs readers on mutated bytes for as long as the time allows, and mutates the inputs that reached
 * new coverage further. `seeds` are valid inputs of each kind. Prints one JSON line, like `fuzz`.
 */
export async function fuzzBytes<Kind extends string>(
  name: string,
  seeds: Record<Kind, readonly Uint8Array[]>,
  check: Check<Kind>,
): Promise<void> {
  const { seconds, seed } = readOptions()
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const kinds = Object.keys(seeds) as Kind[]
  const kept = new Map<Kind, Buffer[]>()
  const coverage = watchCoverage()
  let runs = 0
  const run = async (input: Input<Kind>) => {
    runs++
    const error = await errorOf(check, input)
    return error === undefined ? undefined : { input, error }
  }
  let failure: { input: Input<Kind>; error: unknown } | undefined
  for (const kind of kinds) {
    const seedInputs = seeds[kind].map((bytes) => Buffer.from(bytes))
    kept.set(kind, seedInputs)
    for (const bytes of seedInputs) failure ??= await run({ kind, bytes })
  }
  coverage.isNew()
  const end = performance.now() + seconds * 1000
  while (!failure && performance.now() < end) {
    const kind = pick(kinds)
    const corpus = kept.get(kind)!
    const bytes = edited(pick(corpus), pick(corpus), random).subarray(0, MAX_BYTES)
    failure = await run({ kind, bytes })
    if (!failure && coverage.isNew()) corpus.push(bytes)
  }
  const inputs = [...kept.values()].reduce((sum, corpus) => sum + corpus.length, 0)
  const outcome: Outcome = { name, seed, runs, inputs, edges: coverage.edges }
  if (!failure) return report(outcome)
  const { input, error } = await smallest(check, failure)
  report(outcome, {
    input: `${input.kind}: ${JSON.stringify(input.bytes.toString('latin1'))}`,
    error,
  })
}

async function errorOf<Kind extends string>(
  check: Check<Kind>,
  { kind, bytes }: Input<Kind>,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const hung = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it hung')), HANG_MS)
  })
  try {
    // A copy: a reader that keeps or changes its input harms no later run.
    await Promise.race([check(Buffer.from(bytes), kind), hung])
    return undefined
  } catch (error) {
    return error ?? new Error('it threw nothing')
  } finally {
    clearTimeout(timer)
  }
}

type Failure<Kind> = { input: Input<Kind>; error: unknown }

/** Shrinks a failing input: removes parts of decreasing size as long as it still fails. */
async function smallest<Kind extends string>(
  check: Check<Kind>,
  failure: Failure<Kind>,
): Promise<Failure<Kind>> {
  let found = failure
  let tries = 0
  for (let part = found.input.bytes.length >> 1; part > 0; part >>= 1) {
    for (let at = 0; at < found.input.bytes.length && tries < MAX_SHRINKS; ) {
      const { kind, bytes } = found.input
      const input = {
        kind,
        bytes: Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + part)]),
      }
      const error = await errorOf(check, input)
      tries++
      if (error === undefined) at += part
      else found = { input, error }
    }
  }
  return found
}
