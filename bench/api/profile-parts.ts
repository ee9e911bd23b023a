/** The fields of a profile of `node --cpu-prof` that are read here. */
export type CpuProfile = {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  /** Microseconds of the machine's monotonic clock. */
  startTime: number
  samples: number[]
  /** Microseconds before each sample. */
  timeDeltas: number[]
}

/** Microseconds in which a thread worked, and the share of each part of the program. */
export type ThreadShares = { busy: number; parts: Record<string, number> }

/** Smaller shares are summed up as `rest`. */
const MIN_SHARE = 0.01

/**
 * Sums up the self time of functions by the part of the program that they belong to, between two
 * times of the machine's monotonic clock in microseconds.
 */
export function shareByPart(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  [from, to]: readonly [number, number],
): ThreadShares {
  const partOf = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  let busy = 0
  let at = startTime
  for (const [i, id] of samples.entries()) {
    const part = partOf.get(id)!
    const time = Math.max(0, timeDeltas[i]!)
    at += time
    if (part === 'waiting' || at < from || at > to) continue
    busy += time
    times.set(part, (times.get(part) ?? 0) + time)
  }
  const parts: Record<string, number> = {}
  let rest = 0
  for (const [part, time] of [...times].sort(([, a], [, b]) => b - a)) {
    if (time / busy >= MIN_SHARE) parts[part] = time / busy
    else rest += time / busy
  }
  return { busy, parts: { ...parts, rest } }
}

function nameOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string {
  if (functionName === '(idle)') return 'waiting'
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (/^node:(_http|internal\/(http|streams|stream_base|timers)|net$|_?stream)/.test(url))
    return 'HTTP of Node'
  if (url.startsWith('node:')) return 'Node'
  const [, dependency] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (dependency) return dependency
  const [, part] = /\/(src\/[^/]+(?:\/[^/]+)?)/.exec(url) ?? []
  return part ?? `native: ${functionName.replace(/[()]/g, '')}`
}
