import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { followClock, steadyNow, wallNow } from './clock.ts'

const HOUR_MS = 3_600_000

afterEach(() => followClock(async () => Date.now()))

/** Whether both clocks of this process differ from the time of the machine by so much. */
function assertAhead(ms: number): void {
  for (const now of [wallNow(), steadyNow()]) {
    assert.ok(Math.abs(now - Date.now() - ms) < 1000, `${now - Date.now()} ms ahead`)
  }
}

test('the clock follows another one that differs by more than a second, and returns', async () => {
  for (const ahead of [HOUR_MS, -HOUR_MS, 0]) {
    const difference = await followClock(async () => Date.now() + ahead)
    assert.ok(Math.abs(difference - ahead) < 1000)
    assertAhead(ahead)
  }
})

test('a clock that differs by less than a second is not followed', async () => {
  await followClock(async () => Date.now() + 500)
  assert.ok(Math.abs(wallNow() - Date.now()) < 100)
})

test('a time reading that arrives late is ignored', async () => {
  const asked = followClock(async () => {
    const until = performance.now() + 1100
    while (performance.now() < until);
    return Date.now() + HOUR_MS
  })
  assert.ok(Math.abs(await asked) < 100)
})
