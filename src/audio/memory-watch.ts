import { readFileSync } from 'node:fs'

/** A decoder that inflated Matroska blocks was killed 75 MB above the limit. */
const LOOK_MS = 100
/** Of x86 and most ARM machines; others have larger pages, which are counted too low. */
const PAGE_BYTES = 4096

/** The memory of another process, as it was seen. */
export type MemoryWatch = { readonly peakBytes: number; close(): void }

/**
 * Looks at the memory that a process uses until it is closed, and calls `onExceeded` once when that is more
 * than `limitBytes`. Only Linux shows it; elsewhere nothing is seen.
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
  }, LOOK_MS)
  return {
    get peakBytes() {
      return peakBytes
    },
    close: () => clearInterval(timer),
  }
}

/** The second number of `statm` is the pages in memory; what files lent is not the process's own. */
function usedBytes(pid: number | undefined): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8')
      .split(' ')
      .map(Number)
    return (resident - shared) * PAGE_BYTES
  } catch {
    return 0 // It has ended, or the system has no such file.
  }
}
