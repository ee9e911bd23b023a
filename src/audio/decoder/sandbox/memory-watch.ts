import { readFileSync } from 'node:fs'

/**
 * Milliseconds between two measurements. A decoder that inflated Matroska blocks was killed when it
 * was 75 MB above the limit.
 */
const POLL_MS = 100
/**
 * The page size of x86 and most ARM machines; others have larger pages, so the count is too low
 * there.
 */
const PAGE_BYTES = 4096

/** A monitor of the memory of another process. */
export type MemoryWatch = { readonly peakBytes: number; close(): void }

/**
 * Polls the memory of a process until closed, and calls `onExceeded` once when it exceeds
 * `limitBytes`. Only Linux reports it; on other systems the peak stays 0.
 */
export function watchMemory(
  pid: number | undefined,
  { limitBytes, onExceeded }: { limitBytes: number; onExceeded: () => void },
): MemoryWatch {
  let peakBytes = 0
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, usedBytes(pid))
    if (peakBytes <= limitBytes) return
    clearInterval(timer)
    onExceeded()
  }, POLL_MS)
  return {
    get peakBytes() {
      return peakBytes
    },
    close: () => clearInterval(timer),
  }
}

/**
 * Returns the memory of a process and of those that it has started. The second number of `statm` is
 * the pages in memory; pages shared with files are not the process's own.
 */
function usedBytes(pid: number | string | undefined): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8')
      .split(' ')
      .map(Number)
    const children = childrenOf(pid).reduce((sum, child) => sum + usedBytes(child), 0)
    return (resident - shared) * PAGE_BYTES + children
  } catch {
    return 0 // The process has ended, or the system has no such file.
  }
}

/**
 * Returns the children of a process. A program in namespaces of its own is a grandchild: two shells
 * start it.
 */
function childrenOf(pid: number | string | undefined): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter((id) => id !== '')
  } catch {
    return [] // Systems that do not list them isolate no decoder.
  }
}
