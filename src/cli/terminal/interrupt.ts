/**
 * A terminal delivers Ctrl-C to every process of the group, and `npm` and `bin/steno.mjs` forward
 * it once more: signals this close together count as one.
 */
const SAME_SIGNAL_MS = 500

/**
 * Aborts at the first signal that asks this process to end. A second one ends it at once, with code
 * 130.
 */
export function interruptOnSignals(): AbortSignal {
  const stop = new AbortController()
  let stoppedAt = 0

  function interrupt(): void {
    const now = performance.now()
    if (stoppedAt === 0) {
      stoppedAt = now
      stop.abort()
    } else if (now - stoppedAt > SAME_SIGNAL_MS) {
      process.exit(130)
    }
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  // Started by bin/steno.mjs on an older Node: when that process is gone, no other one can stop
  // this one.
  process.once('disconnect', interrupt)
  return stop.signal
}
