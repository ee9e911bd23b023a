import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { captureLog } from '../../../../../test/support/server/captured-log.ts'
import { openTestStorage } from '../../../../../test/support/storage/test-storage.ts'
import { createMetrics } from '../../../../observability/metrics.ts'
import { createScrape, type ScrapeDeps } from './scrape.ts'

async function open(t: TestContext) {
  const storage = await openTestStorage(t)
  const metrics = createMetrics()
  const states = { new: 1, connected: 2, disconnected: 3 }
  const live = { states, admission: { capacity: undefined } } as ScrapeDeps['live']
  const { log, lines } = captureLog()
  return { metrics, storage, live, log, lines }
}

test('a metric that cannot be read is omitted and logged; the others are returned', async (t) => {
  const { metrics, storage, live, log, lines } = await open(t)
  const scrape = createScrape({ metrics, storage, live })
  assert.match(await scrape(log), /^steno_jobs\{kind="live",state="queued"\} 0$/m)
  assert.deepEqual(lines, [])
  await storage.db.sql.schema.dropTable('jobs').execute()
  const text = await scrape(log)
  assert.doesNotMatch(text, /^steno_jobs\{/m)
  assert.match(text, /^steno_deliveries_pending\{kind="webhook"\} 0$/m)
  assert.match(text, /^steno_live_sessions\{state="disconnected"\} 3$/m)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['a metric cannot be read'],
  )
})

test('concurrent scrapes share one reading, and later ones get a new one', async (t) => {
  const { metrics, storage, live, log } = await open(t)
  const scrape = createScrape({ metrics, storage, live })
  const first = scrape(log)
  assert.equal(scrape(log), first)
  await first
  assert.notEqual(scrape(log), first)
  await scrape(log)
})
