/** The rate is measured over the last five seconds. */
const WINDOW_MS = 5000

/**
 * Returns a function that takes the bytes that have arrived, and returns how many arrive in a
 * second; undefined at first.
 */
export function createTransferRate(): (bytes: number) => number | undefined {
  let measured: { at: number; bytes: number }[] = []
  return (bytes) => {
    const now = performance.now()
    // Fewer bytes than before mean that a file is fetched again.
    if (bytes < (measured.at(-1)?.bytes ?? 0)) measured = []
    measured = [...measured.filter(({ at }) => now - at < WINDOW_MS), { at: now, bytes }]
    const [first] = measured
    const seconds = (now - first!.at) / 1000
    return seconds > 0.5 ? (bytes - first!.bytes) / seconds : undefined
  }
}
