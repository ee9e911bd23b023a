import { readdirSync, readFileSync } from 'node:fs'

/**
 * A process; its start, in ticks since the boot, distinguishes it from a later one with the same
 * id.
 */
type Process = { pid: number; started: number }

type Stat = { parent: number; started: number; resident: number }

/** A process and its descendants at one time, and the sum of their resident bytes. */
export type ProcessTree = { processes: Process[]; resident: number }

const PAGE_BYTES = 4096

/**
 * Sums the resident memory of `root` and of all that descend from it; pages that several share
 * count for each. Those of `knownProcesses` count too when their parent is gone. Linux only
 * (/proc).
 */
export function readTree(root: number, knownProcesses: readonly Process[] = []): ProcessTree {
  const all = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(name) : undefined
    if (stat) all.set(Number(name), stat)
  }
  const living = knownProcesses.filter(({ pid, started }) => all.get(pid)?.started === started)
  const requestedPids = new Set(knownProcesses.length > 0 ? living.map(({ pid }) => pid) : [root])
  const belongs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (requestedPids.has(at)) return true
    return false
  }
  const members = [...all].filter(([pid]) => belongs(pid))
  return {
    processes: members.map(([pid, { started }]) => ({ pid, started })),
    resident: members.reduce((total, [, stat]) => total + stat.resident, 0),
  }
}

/** Reads the state of a process; undefined when it has ended. */
function readStat(pid: string): Stat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything; the fields after it begin with the third.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    const [parent, started, pages] = [fields[1], fields[19], fields[21]].map(Number)
    return { parent: parent!, started: started!, resident: pages! * PAGE_BYTES }
  } catch {
    return undefined
  }
}

/** A watch of the memory of a process tree. */
export type MemoryWatch = {
  readonly peak: number
  readonly exceeded: boolean
  /** Ends the watch. */
  stop(): void
  /** Ends the watch and the processes. */
  end(): void
}

/** The interval of the checks; memory grows by at most a gigabyte per second. */
const WATCH_MS = 200

/** Watches a tree of processes and kills all of it when it holds more than `limit` bytes. */
export function watchMemory(root: number, limit: number): MemoryWatch {
  let [peak, exceeded] = [0, false]
  let { processes } = readTree(root)
  const check = () => {
    const tree = readTree(root, processes)
    // If no process is left, the watch ends: the id of the root may belong to another process.
    if (tree.processes.length === 0) return clearInterval(timer)
    processes = tree.processes
    peak = Math.max(peak, tree.resident)
    if (tree.resident <= limit) return
    exceeded = true
    kill()
  }
  const kill = () => {
    for (const { pid } of readTree(root, processes).processes) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  }
  const timer = setInterval(check, WATCH_MS)
  return {
    get peak() {
      return peak
    },
    get exceeded() {
      return exceeded
    },
    stop: () => clearInterval(timer),
    end() {
      clearInterval(timer)
      kill()
    },
  }
}
