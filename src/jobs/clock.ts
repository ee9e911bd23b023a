/**
 * Returns milliseconds since 1970, read when the process started and counted up from there. Leases
 * and delays use it, so setting the system clock neither ends nor extends one.
 */
export function steadyNow(): number {
  return Math.round(performance.timeOrigin + performance.now())
}
