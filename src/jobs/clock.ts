/**
 * Milliseconds since 1970 as they were when the process began, counted on from there: what leases and
 * delays are measured by, so that setting the computer's clock neither ends nor prolongs one.
 */
export function steadyNow(): number {
  return Math.round(performance.timeOrigin + performance.now())
}
