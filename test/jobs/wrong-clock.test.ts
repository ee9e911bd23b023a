import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { endNewJob } from '../support/delivery/test-deliveries.ts'
import { captureLog } from '../support/server/captured-log.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

const YEAR_MS = 365 * 86_400_000

/**
 * Starts a server on a store with a job past its retention that was last used a year ago by its
 * clock.
 */
async function startLater(t: TestContext, env: Record<string, string> = {}) {
  const folder = await makeFolder(t)
  const storage = await openStorage({ folder, log: createLog('silent') })
  await endNewJob(storage.db, { at: Date.now() - 2 * YEAR_MS })
  await storage.close()
  const seen = JSON.stringify({ seenAt: Date.now() - YEAR_MS })
  writeFileSync(join(folder, 'steno.sqlite.clock'), seen)
  const { log, lines } = captureLog()
  const config = readConfig({ STENO_DATA_DIR: folder, STENO_LIVE_SLOTS: '0', ...env })
  const app = await createApp(config, { speech: createFakeSpeechEngine('x'), log })
  const jobs = async () =>
    (await app.storage.db.sql.selectFrom('jobs').select('id').execute()).length
  /** Resolves when the log has such a line. */
  async function until(msg: string): Promise<void> {
    while (!lines.some((line) => line.msg === msg)) await delay(5)
  }
  return { app, jobs, until }
}

test('a clock a year ahead at the start deletes nothing, and is logged', async (t) => {
  const { app, until } = await startLater(t)
  await until('the clock is far ahead of the last run, nothing old is deleted for a day')
  await app.close()
  const again = await openStorage({ folder: app.config.storage.folder, log: createLog('silent') })
  t.after(() => again.close())
  assert.equal((await again.db.sql.selectFrom('jobs').select('id').execute()).length, 1)
})

test('STENO_TRUST_CLOCK deletes expired jobs at once', async (t) => {
  const { app, jobs, until } = await startLater(t, { STENO_TRUST_CLOCK: 'true' })
  t.after(() => app.close())
  await until('deleted jobs past their retention')
  assert.equal(await jobs(), 0)
})
