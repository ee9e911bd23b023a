import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import { addJob, claim } from '../../../test/support/jobs/test-jobs.ts'
import { openService, type TestService } from '../../../test/support/jobs/test-service.ts'
import { steadyNow } from '../../clock.ts'
import { LEASE_MS } from './lease-heartbeat.ts'

/** Gives a service what PostgreSQL gives: hints of other servers, and their announcement. */
function addHints({ storage }: TestService): { give(): void; announced: number } {
  const hints = { give: () => {}, announced: 0 }
  const jobNotifier = {
    notify: () => void hints.announced++,
    close: async () => {},
    listen: (onHint: () => void) => {
      hints.give = onHint
      return () => {}
    },
  }
  Object.assign(storage.db, { jobNotifier })
  return hints
}

test('a notification makes the queue poll at once', async (t) => {
  const service = await openService(t)
  const hints = addHints(service)
  await service.jobs.start()
  // The first poll finds nothing.
  await delay(500)
  const begun = performance.now()
  // Every job leaves the queue, even one whose recording is missing.
  const id = await addJob(service.storage.db)
  const find = service.storage.db.sql.selectFrom('jobs').select('status').where('id', '=', id!)
  hints.give()
  while ((await find.executeTakeFirst())?.status === 'queued') await delay(5)
  assert.ok(performance.now() - begun < LEASE_MS / 2)
})

test('a job with an expired lease starts with the poll that finds it', async (t) => {
  const service = await openService(t)
  const hints = addHints(service)
  await service.jobs.start()
  await delay(500)
  const { db } = service.storage
  const later = steadyNow() + 900_000
  const id = await addJob(db, { runAfter: later })
  assert.ok(await claim(db, { now: later, leaseMs: -900_001 }))
  const begun = performance.now()
  const find = db.sql.selectFrom('jobs').select('status').where('id', '=', id!)
  hints.give()
  while (['queued', 'processing'].includes((await find.executeTakeFirst())!.status)) await delay(5)
  assert.ok(performance.now() - begun < LEASE_MS / 2)
})

test('jobs are announced when queued and when returned by a stopping server', async (t) => {
  const came = Promise.withResolvers<void>()
  const onBatch = async (_batch: unknown, signal: AbortSignal) => {
    came.resolve()
    await once(signal, 'abort')
  }
  const service = await openService(t, {
    speech: createFakeSpeechEngine('hello', { onBatch }),
    graceMs: 0,
  })
  const hints = addHints(service)
  await service.jobs.start()
  await service.submit({ seconds: 1 })
  assert.equal(hints.announced, 1)
  await came.promise
  await service.jobs.drain()
  assert.equal(hints.announced, 2)
})
