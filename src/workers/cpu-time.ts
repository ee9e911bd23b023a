import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** The unit of times in /proc, the same on all systems (`man 5 proc`, USER_HZ). */
const TICKS_PER_SECOND = 100
/** Below this share of a core a process is waiting; even a starved process gets more. */
const MIN_SHARE = 0.001
/** Above this share of a core a process is working: one that only wakes for timers uses less. */
const CLEAR_SHARE = 0.05
/** Maximum periods, so that processes that run without progress end as well. */
const MAX_PERIODS = 40

/** Returns the seconds of processor time that this process has used so far. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/**
 * Returns the processor time of a process and its children in seconds; undefined where the system
 * does not report it, such as outside Linux.
 */
export function cpuSecondsOf(pid: number): number | undefined {
  try {
    // The name of the program, in parentheses, may have spaces; the state follows it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // User and system time, then those of children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return childrenOf(pid).reduce(
      (sum, child) => sum + (cpuSecondsOf(child) ?? 0),
      ticks / TICKS_PER_SECOND,
    )
  } catch {
    return undefined
  }
}

/**
 * Returns whether a thread of a process or of its children runs or waits for a core, or for the
 * disk; false where the system does not report it.
 */
export function isRunnable(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const states = threads.map((thread) => stateOf(`/proc/${pid}/task/${thread}/stat`))
    return states.some((state) => 'RD'.includes(state)) || childrenOf(pid).some(isRunnable)
  } catch {
    return false
  }
}

function stateOf(file: string): string {
  try {
    const stat = readFileSync(file, 'latin1')
    return stat[stat.lastIndexOf(')') + 2]!
  } catch {
    return 'X' // The thread has ended.
  }
}

/** Returns the ids of child processes; none on kernels that do not list them. */
function childrenOf(pid: number): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    return pids.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/**
 * The processor use of a process or thread. `read` resolves to the seconds of processor time that
 * it has used, undefined where they are unknown; `isRunnable` returns whether it needs more now.
 */
export type CpuUsage = { read(): Promise<number | undefined>; isRunnable(): boolean }

/**
 * Returns a function to call after each period of `seconds`. It resolves to true if the process or
 * thread is starved and needs another period: it has not had `seconds` of processor time yet, and
 * it uses what it gets. If its processor time is unknown, or cannot be read within a period, it
 * gets no further period.
 */
export async function watchStarvation(
  { read, isRunnable }: CpuUsage,
  seconds: number,
): Promise<() => Promise<boolean>> {
  const readInTime = () => Promise.race([read(), delay(seconds * 1000, undefined, { ref: false })])
  const begun = await readInTime()
  let before = begun
  let periods = 0
  return async () => {
    const now = await readInTime()
    if (begun === undefined || before === undefined || now === undefined) return false
    const used = now - before
    before = now
    periods++
    if (now - begun >= seconds || periods >= MAX_PERIODS) return false
    return used > CLEAR_SHARE * seconds || (used > MIN_SHARE * seconds && isRunnable())
  }
}
