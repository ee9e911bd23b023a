import assert from 'node:assert/strict'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { captureLog } from '../../../../test/support/server/captured-log.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { databaseFile } from '../../data-folder/data-folder.ts'
import { type ClockState, openDeletionClock, readClock } from './deletion-clock.ts'

const log = createLog('silent')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 1)

/** Reads the clock at each time, in days after `START`; returns for each whether it is trusted. */
function believed(days: readonly number[], { seenAt = START } = {}): boolean[] {
  let state: ClockState = { seenAt }
  return days.map((day) => {
    state = readClock(state, START + day * DAY)
    return state.doubt === undefined
  })
}

test('a clock that advances, goes back or was off for a week is trusted', () => {
  assert.deepEqual(believed([0, 0.1, 6.9, 13.8, 2, 3]), [true, true, true, true, true, true])
})

test('a clock that jumps a year ahead is trusted only after a day', () => {
  assert.deepEqual(believed([0, 365, 365.5, 365.9, 366, 366.1]), [
    true,
    false,
    false,
    false,
    true,
    true,
  ])
})

test('a corrected clock is trusted at once, and the next jump is doubted again', () => {
  assert.deepEqual(believed([0, 365, 0.5, 366.5, 367]), [true, false, true, false, false])
})

test('another jump while the clock is doubted restarts the day', () => {
  assert.deepEqual(believed([0, 365, 700, 700.5, 701.1]), [true, false, false, false, true])
})

test('the clock state survives a restart', async (t) => {
  const folder = await makeFolder(t)
  const open = () => openDeletionClock({ folder, log, isTrusted: false })
  const first = await open()
  assert.equal(first.mayDelete(START), true)
  await first.close()
  const second = await open()
  assert.equal(second.mayDelete(START + 365 * DAY), false)
  await second.close()
  const third = await open()
  assert.equal(third.mayDelete(START + 365 * DAY + 12 * HOUR), false)
  assert.equal(third.mayDelete(START + 366 * DAY), true)
})

test('without a clock state the modification time of the database is used', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(databaseFile(folder), '')
  await utimes(databaseFile(folder), START / 1000, START / 1000)
  await writeFile(join(folder, 'steno.sqlite.clock'), '{"seenAt": "soon"}')
  const clock = await openDeletionClock({ folder, log, isTrusted: false })
  assert.equal(clock.mayDelete(START + 365 * DAY), false)
})

test('the operator can declare the clock trusted, and the log explains how', async (t) => {
  const folder = await makeFolder(t)
  const { log, lines } = captureLog()
  const doubting = await openDeletionClock({ folder, log, isTrusted: false })
  doubting.mayDelete(START)
  doubting.mayDelete(START + 365 * DAY)
  assert.equal(doubting.mayDelete(START + 365 * DAY), false)
  assert.deepEqual(
    lines.map(({ setting }) => setting),
    ['STENO_TRUST_CLOCK'],
  )
  await doubting.close()
  const trusting = await openDeletionClock({ folder, log, isTrusted: true })
  assert.equal(trusting.mayDelete(START + 365 * DAY), true)
  await trusting.close()
})
