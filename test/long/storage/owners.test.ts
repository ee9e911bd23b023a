import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ACCOUNT, openService, type TestService } from '../../support/jobs/test-service.ts'
import type { Work } from '../../support/storage/owner-process.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

async function startOwner(t: TestContext, folder: string) {
  const child = fork(
    join(import.meta.dirname, '../../support/storage/owner-process.ts'),
    [folder],
    {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    },
  )
  t.after(() => child.kill('SIGKILL'))
  const [work] = (await once(child, 'message')) as [Work]
  return { child, work }
}

/** What is there of the work of another process. */
async function stateOf({ storage, folder }: TestService, { job, object }: Work) {
  const { db } = storage
  const row = await db.sql.selectFrom('jobs').selectAll().where('id', '=', job).executeTakeFirst()
  const stored = (await Array.fromAsync(db.objects.list())).flat()
  return {
    status: row?.status,
    owner: row?.lease_owner,
    hasFolder: (await readdir(join(folder, 'work'))).includes(job),
    hasObject: stored.includes(object),
    unfinished: (await readdir(join(folder, 'objects', 'unfinished'))).length,
  }
}

test("a process leaves another's work alone, and takes it over when that is killed", async (t) => {
  const folder = await makeFolder(t)
  const { child, work } = await startOwner(t, folder)
  const service = await openService(t, { folder, isShared: true, heartbeatMs: 20 })
  const { storage, jobs } = service
  await storage.swept
  await jobs.start()
  const submitted = await service.submit({ seconds: 1 })
  while ((await ownStatus(service, submitted)) !== 'done') await delay(10)
  const busy = { hasFolder: true, hasObject: true, unfinished: 1 }
  const state = await stateOf(service, work)
  assert.deepEqual(state, { status: 'processing', owner: work.owner, ...busy })

  child.kill('SIGKILL')
  await once(child, 'exit')
  // As if its last heartbeat had been long ago.
  const owners = storage.db.sql.updateTable('owners').where('id', '=', work.owner)
  await owners.set({ heartbeat_at: 0 }).execute()
  while ((await stateOf(service, work)).hasObject) await delay(10)
  assert.deepEqual(await Array.fromAsync(storage.orphans!.list()), [[work.object]])
  // A new job has the queue looked at before its lease runs out.
  await service.submit({ seconds: 1 })
  const ended = await service.ended(work.job)
  assert.deepEqual([ended.status, await attemptsOf(service, work)], ['done', 1])
  const { hasFolder, unfinished } = await stateOf(service, work)
  assert.deepEqual({ hasFolder, unfinished }, { hasFolder: false, unfinished: 0 })
})

async function ownStatus({ storage }: TestService, id: string): Promise<string | undefined> {
  const query = storage.db.sql.selectFrom('jobs').select('status').where('id', '=', id)
  return (await query.where('account', '=', ACCOUNT).executeTakeFirst())?.status
}

async function attemptsOf({ storage }: TestService, { job }: Work): Promise<number> {
  const query = storage.db.sql.selectFrom('jobs').select('attempt').where('id', '=', job)
  return (await query.executeTakeFirstOrThrow()).attempt
}
