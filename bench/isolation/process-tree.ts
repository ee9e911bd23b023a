import { readdirSync, readFileSync } from 'node:fs'

/** A look at a process and all that descend from it: their ids, and their resident bytes summed. */
export type ProcessTree = { pids: number[]; resident: number }

const PAGE_BYTES = 4096

/**
 * Sums the resident memory of `root` and of all that descend from it; pages that several share count for each.
 * Those of `known` count too when their parent is gone. Linux only (/proc).
 */
export function readTree(root: number, known: readonly number[] = []): ProcessTree {
  const parents = new Map<number, { parent: number; resident: number }>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(name)
    if (stat) parents.set(Number(name), stat)
  }
  const wanted = new Set([root, ...known])
  const belongs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = parents.get(at)?.parent ?? 0) if (wanted.has(at)) return true
    return false
  }
  const pids = [...parents.keys()].filter(belongs)
  const resident = pids.reduce((total, pid) => total + parents.get(pid)!.resident, 0)
  return { pids, resident }
}

/** Parent and resident bytes of a process; undefined when it has ended meanwhile. */
function readStat(pid: string): { parent: number; resident: number } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in brackets may hold anything; fields are counted behind it, from the third.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), resident: Number(fields[21]) * PAGE_BYTES }
  } catch {
    return undefined
  }
}

/** What the watch of a process tree has seen. */
export type MemoryWatch = {
  readonly peak: number
  readonly exceeded: boolean
  /** Ends the watch and the processes. */
  end(): void
}

/** Between two looks; memory grows by a gigabyte a second at most. */
const WATCH_MS = 200

/** Watches a tree of processes and kills all of it when it holds more than `limit` bytes. */
export function watchMemory(root: number, limit: number): MemoryWatch {
  let [peak, exceeded] = [0, false]
  let pids: number[] = [root]
  const look = () => {
    const tree = readTree(root, pids)
    pids = tree.pids
    peak = Math.max(peak, tree.resident)
    if (tree.resident <= limit) return
    exceeded = true
    kill()
  }
  const kill = () => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  }
  const timer = setInterval(look, WATCH_MS)
  return {
    get peak() {
      return peak
    },
    get exceeded() {
      return exceeded
    },
    end() {
      clearInterval(timer)
      pids = readTree(root, pids).pids
      kill()
    },
  }
}
