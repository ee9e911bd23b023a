import { type Clock, systemClock } from '../../../src/delivery/system-clock.ts'

/** The computer's clock, which a test can advance. A sleeper must be woken to notice it. */
export type SkippingClock = Clock & { skip(ms: number): void }

/** Creates a clock for deliveries, so that no test has to wait for the next attempt. */
export function createSkippingClock(): SkippingClock {
  let ahead = 0
  return {
    now: () => systemClock.now() + ahead,
    sleep: systemClock.sleep,
    skip(ms) {
      ahead += ms
    },
  }
}
