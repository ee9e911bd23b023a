import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { DatabaseConfig } from '../../src/config/storage/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/postgres.ts'
import { openService } from '../support/jobs/test-service.ts'
import { noPostgres, takeDatabase } from '../support/storage/databases/test-postgres.ts'

type Server = Awaited<ReturnType<typeof openPostgres>>

async function openTwo(t: TestContext): Promise<[Server, Server, DatabaseConfig]> {
  let close = async () => {}
  t.after(() => close())
  const settings = await takeDatabase(t)
  const first = await openPostgres(settings, { version: 'same' })
  const second = await openPostgres(settings, { version: 'same' })
  close = async () => void (await Promise.all([first.close(), second.close()]))
  return [first, second, settings]
}

/** Counts hints; the first one says that the server listens. */
async function countNotifications(server: Pick<Server, 'jobNotifier'>): Promise<{ count: number }> {
  const hints = { count: 0 }
  server.jobNotifier!.listen(() => void hints.count++)
  await until(() => hints.count === 1)
  return hints
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(5)
}

describe('notifications about waiting jobs', { skip: noPostgres, timeout: 60_000 }, () => {
  test('reach other servers once per burst, and not the sender', async (t) => {
    const [first, second] = await openTwo(t)
    const own = await countNotifications(first)
    const others = await countNotifications(second)
    for (let i = 0; i < 50; i++) first.jobNotifier!.notify()
    await until(() => others.count === 2)
    first.jobNotifier!.notify()
    await until(() => others.count === 3)
    assert.equal(own.count, 1)
  })

  test('reconnect after a lost connection, which counts as a notification', async (t) => {
    const [first, second] = await openTwo(t)
    const hints = await countNotifications(second)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query = 'listen steno_jobs'`.execute(first.sql)
    await until(() => hints.count === 2)
    first.jobNotifier!.notify()
    await until(() => hints.count === 3)
  })

  test('are sent before the server closes', async (t) => {
    const [, second, settings] = await openTwo(t)
    const hints = await countNotifications(second)
    const third = await openPostgres(settings, { version: 'same' })
    third.jobNotifier!.notify()
    await third.close()
    await until(() => hints.count === 2)
  })

  test('inform workers of jobs queued by a server without workers', async (t) => {
    let close = async () => {}
    t.after(() => close())
    const env = { STENO_DATABASE_URL: (await takeDatabase(t)).url }
    const worker = await openService(t, { env })
    const submitter = await openService(t, { env, folder: worker.folder, runsJobs: false })
    close = async () => {
      await submitter.close()
      await worker.close()
    }
    const hints = await countNotifications(worker.storage.db)
    await worker.jobs.start()
    const id = await submitter.submit({ seconds: 1 })
    await until(() => hints.count > 1)
    assert.equal((await worker.ended(id)).status, 'done')
  })
})
