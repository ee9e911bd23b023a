import type { TestContext } from 'node:test'

type Run = (...args: unknown[]) => void

/** The timeouts of one length, which pass when the test says so. */
export type FakeTimeouts = {
  /** Lets those pass that have not been cleared. */
  pass(): void
  /** How often one of them was begun anew. */
  readonly refreshed: number
}

/**
 * Holds back the timeouts of exactly `ms` milliseconds. No other code should use this number, and
 * it should be so large that no timeout expires by itself.
 */
export function fakeTimeouts(t: TestContext, ms: number): FakeTimeouts {
  const { setTimeout, clearTimeout } = globalThis
  const held = new Map<unknown, () => void>()
  let refreshed = 0
  t.mock.method(globalThis, 'setTimeout', ((run: Run, after?: number, ...args: unknown[]) => {
    const timer = setTimeout(run, after, ...args)
    if (after !== ms) return timer
    const refresh = timer.refresh.bind(timer)
    timer.refresh = () => {
      refreshed++
      return refresh()
    }
    held.set(timer, () => run(...args))
    return timer
  }) as typeof setTimeout)
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    held.delete(timer)
    clearTimeout(timer)
  })
  return {
    pass() {
      for (const [timer, run] of [...held]) {
        globalThis.clearTimeout(timer as NodeJS.Timeout)
        run()
      }
    },
    get refreshed() {
      return refreshed
    },
  }
}
