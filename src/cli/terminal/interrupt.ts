/**
 * A terminal delivers Ctrl-C to every process of the group, and `npm` and `bin/steno.mjs` forward
 * it once more: signals this close together count as one.
 */
const SAME_SIGNAL_MS = 500

/**
 * Returns a signal that aborts at the first SIGINT, SIGTERM or SIGHUP. A second one exits at once,
 * with code 130.
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
  // If bin/steno.mjs started this process on an older Node, its end is the only way to stop this
  // one.
  process.once('disconnect', interrupt)
  return stop.signal
}
