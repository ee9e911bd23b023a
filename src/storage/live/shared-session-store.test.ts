import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { audioAfter, audioAt, lineOf } from '../../../test/support/live/session-audio.ts'
import { addLiveJob } from '../../../test/support/live/sessions/test-live-jobs.ts'
import {
  assertStored,
  linesOf,
  testSessionStore,
  writeCalls,
} from '../../../test/support/live/stores/session-store-conformance.ts'
import { noPostgres, openTestPostgres } from '../../../test/support/storage/test-postgres.ts'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import type { Db } from '../database/db.ts'
import { createDiskSessionStore, type DiskSessionStore } from './disk-session-store.ts'
import { type BatchWriter, createBatchWriter, deleteStaleBatches } from './session-batches.ts'
import { copyAbandonedSession, openSharedStore } from './shared-session-store.ts'

type Opening = { jobId?: string; owner?: string; writer?: BatchWriter; earlierFolder?: string }

/** A database, and what opens a session on it as one node after the other would. */
async function openNodes(t: TestContext) {
  const { db } = await openTestPostgres(t)
  const folder = await makeFolder(t)
  const id = randomUUID()
  let epoch = 0
  const opened: DiskSessionStore[] = []
  t.after(() => Promise.all(opened.map((files) => files.close().catch(() => {}))))
  async function open({ jobId = id, owner = 'first', writer, earlierFolder }: Opening = {}) {
    let taken = 0
    const own: Db = { ...db, owner }
    const { files, isNew } = await openSharedStore({
      ...{ db: own, jobId, epoch: ++epoch, audioAfter },
      writer: writer ?? createBatchWriter(own, { intervalMs: 1 }),
      folder: join(folder, owner, jobId),
      earlierFolder: earlierFolder ?? join(folder, 'none'),
      onTaken: () => taken++,
    })
    opened.push(files)
    return { files, isNew, taken: () => taken }
  }
  return { db, folder, id, open }
}

describe('sessions in a shared database', { skip: noPostgres }, () => {
  testSessionStore('shared live files', async (t) => {
    const { open } = await openNodes(t)
    const { files } = await open()
    const reopen = async () => {
      // What was not synced is lost with the node.
      await files.sync().catch(() => {})
      await files.close()
      return (await open({ owner: 'second' })).files
    }
    // Closed stores are synced: a node that leaves a session in order syncs before.
    const close = async () => {
      await files.sync().catch(() => {})
      await files.close()
    }
    return { store: Object.assign(Object.create(files), { close }), reopen }
  })

  test('a node that takes a session over has all that was acknowledged, and stops its owner', async (t) => {
    const { open } = await openNodes(t)
    const first = await open()
    assert.ok(first.isNew)
    await Promise.all(writeCalls(first.files, { count: 20 }))
    const stored = await first.files.sync()
    assert.equal(stored.audioBytes, 2000)

    const second = await open({ owner: 'second' })
    assert.ok(!second.isNew)
    assert.equal(await assertStored(second.files), 20)

    // Written after the takeover: not acknowledged, and nobody's any more.
    await Promise.all(writeCalls(first.files, { from: 20, count: 5 }))
    await assert.rejects(first.files.sync(), /another server has taken the session/)
    await assert.rejects(first.files.write(undefined, [lineOf(99, 0)]), /another server/)
    assert.deepEqual([first.taken(), second.taken()], [1, 0])
    await Promise.all(writeCalls(second.files, { from: 20, count: 1 }))
    await second.files.sync()
    await second.files.close()
    await first.files.close()
    assert.equal(await assertStored((await open({ owner: 'third' })).files), 21)
  })

  test('only what is in the database counts as durable, and the copy goes with the session', async (t) => {
    const { open, folder, id } = await openNodes(t)
    const { files } = await open()
    const copy = join(folder, 'first', id)
    await Promise.all(writeCalls(files, { count: 3 }))
    const durable = async () => (await Array.fromAsync(files.readStoredLines(0))).flat().length
    assert.deepEqual([await durable(), (await linesOf(files)).length], [0, 3])
    await files.sync()
    assert.deepEqual([await durable(), existsSync(copy)], [3, true])
    await files.close()
    assert.ok(!existsSync(copy))
  })

  test('a batch that was stored although the answer got lost is not stored twice', async (t) => {
    const { db, open } = await openNodes(t)
    const real = createBatchWriter({ ...db, owner: 'first' }, { intervalMs: 1 })
    let fails = 0
    const writer: BatchWriter = {
      async append(batch) {
        const outcome = await real.append(batch)
        if (batch.seq === 1 && fails++ === 0) throw new Error('the connection broke')
        return outcome
      },
    }
    const { files, taken } = await open({ writer })
    await Promise.all(writeCalls(files, { count: 2 }))
    await files.sync()
    assert.deepEqual([fails, taken()], [2, 0])
    await files.close()
    assert.equal(await assertStored((await open({ owner: 'second' })).files), 2)
  })

  test('a session that began before the database was shared goes on', async (t) => {
    const { open, folder } = await openNodes(t)
    const earlierFolder = join(folder, 'earlier')
    const earlier = await createDiskSessionStore(earlierFolder)
    await earlier.write(audioAt(0, 100), [lineOf(0, 100)])
    await earlier.close()
    const { files, isNew } = await open({ earlierFolder })
    assert.ok(!isNew)
    assert.equal(await assertStored(files), 1)
    await files.close()
    const again = await open({ owner: 'second', earlierFolder })
    assert.equal(await assertStored(again.files), 1)
    await again.files.close()
    await again.files.delete()
    assert.ok(!existsSync(earlierFolder))
  })

  test('what nobody owns can be read, and what an ended session left is deleted', async (t) => {
    const { db, open, folder } = await openNodes(t)
    const { id: openId } = await addLiveJob(db)
    const ended = randomUUID()
    for (const jobId of [openId, ended]) {
      const { files } = await open({ jobId })
      await files.write(audioAt(0, 10), [lineOf(0, 10)])
      await files.sync()
      await files.close()
    }
    await deleteStaleBatches(db)
    const left = (jobId: string) =>
      copyAbandonedSession({ db, jobId, folder: join(folder, 'left', jobId) })
    const found = (await left(openId))!
    assert.equal(await assertStored(found), 1)
    await found.close()
    assert.equal(await left(ended), undefined)
  })
})
