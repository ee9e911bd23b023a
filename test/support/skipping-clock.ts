import { type Clock, systemClock } from '../../src/delivery/clock.ts'

/** The computer's clock, which a test can set forward; who sleeps has to be woken to notice. */
export type SkippingClock = Clock & { skip(ms: number): void }

/** Makes a clock for deliveries, so that nobody has to wait for their next attempt. */
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
