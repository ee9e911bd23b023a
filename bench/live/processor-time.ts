import { readdirSync, readFileSync } from 'node:fs'

/** Processor seconds, user and system, of a server's processes by their role. */
export type ProcessorTime = Record<string, number>

/** Ticks per second of the processor times in /proc. */
const TICKS_PER_SECOND = 100

/**
 * Reads the processor time of `root` and its descendants, since their start. Linux only (/proc).
 */
export function readProcessorTime(root: number): ProcessorTime {
  const parents = new Map<number, number>()
  const seconds = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const line = read(`/proc/${name}/stat`)
    // The name in parentheses may contain anything; the fields after it begin with the third.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    parents.set(Number(name), Number(fields[1]))
    seconds.set(Number(name), (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND)
  }
  const time: ProcessorTime = {}
  for (const [pid, used] of seconds) {
    if (!descends(pid, root, parents)) continue
    const role = pid === root ? 'server' : roleOf(pid)
    time[role] = (time[role] ?? 0) + used
  }
  return time
}

/** Returns what was used between two readings, per second of `seconds`. */
export function usedPerSecond(
  before: ProcessorTime,
  after: ProcessorTime,
  seconds: number,
): ProcessorTime {
  const used = Object.entries(after).map(([role, time]) => {
    return [role, (time - (before[role] ?? 0)) / seconds] as const
  })
  const total = used.reduce((sum, [, time]) => sum + time, 0)
  return { ...Object.fromEntries(used.filter(([, time]) => time > 0)), total }
}

/** The role of a recognition process is its second argument. */
function roleOf(pid: number): string {
  const args = read(`/proc/${pid}/cmdline`).split('\0')
  const worker = args.findIndex((arg) => arg.endsWith('workers/worker.ts'))
  return worker < 0 ? 'other' : args[worker + 2]!
}

function descends(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at = pid; at > 1; at = parents.get(at) ?? 0) if (at === root) return true
  return false
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // It has ended meanwhile.
  }
}
