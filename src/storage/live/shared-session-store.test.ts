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
import {
  noPostgres,
  openTestPostgres,
} from '../../../test/support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import type { Db } from '../database/db.ts'
import { createDiskSessionStore, type DiskSessionStore } from './disk-session-store.ts'
import { beginLiveJob } from './live-jobs.ts'
import { type BatchWriter, createBatchWriter, deleteStaleBatches } from './session-batches.ts'
import { copyAbandonedSession, openSharedStore } from './shared-session-store.ts'

type Opening = {
  jobId?: string
  nodeId?: string
  epoch?: number
  writer?: BatchWriter
  earlierFolder?: string
}

/** A database, and what opens a session on it as one node after the other would. */
async function openNodes(t: TestContext) {
  const { db } = await openTestPostgres(t)
  const folder = await makeFolder(t)
  const id = randomUUID()
  let lastEpoch = 0
  const opened: DiskSessionStore[] = []
  t.after(() => Promise.all(opened.map((store) => store.close().catch(() => {}))))
  async function open({ jobId = id, nodeId = 'first', writer, ...given }: Opening = {}) {
    const { epoch = ++lastEpoch, earlierFolder = join(folder, 'none') } = given
    let taken = 0
    const dbOfNode: Db = { ...db, nodeId }
    const { store, isNew } = await openSharedStore({
      db: dbOfNode,
      jobId,
      epoch,
      audioAfter,
      writer: writer ?? createBatchWriter(dbOfNode, { intervalMs: 1 }),
      folder: join(folder, nodeId, jobId),
      earlierFolder,
      onTaken: () => taken++,
    })
    opened.push(store)
    return { store, isNew, taken: () => taken }
  }
  return { db, folder, id, open }
}

describe('sessions in a shared database', { skip: noPostgres }, () => {
  testSessionStore('shared session store', async (t) => {
    const { open } = await openNodes(t)
    const { store } = await open()
    const reopen = async () => {
      // What was not synced is lost with the node.
      await store.sync().catch(() => {})
      await store.close()
      return (await open({ nodeId: 'second' })).store
    }
    // Closed stores are synced: a node that leaves a session in order syncs before.
    const close = async () => {
      await store.sync().catch(() => {})
      await store.close()
    }
    return { store: Object.assign(Object.create(store), { close }), reopen }
  })

  test('a node taking over a session has its acknowledged data and stops the owner', async (t) => {
    const { open } = await openNodes(t)
    const first = await open()
    assert.ok(first.isNew)
    await Promise.all(writeCalls(first.store, { count: 20 }))
    const stored = await first.store.sync()
    assert.equal(stored.audioBytes, 2000)

    const second = await open({ nodeId: 'second' })
    assert.ok(!second.isNew)
    assert.equal(await assertStored(second.store), 20)

    // Written after the takeover: not acknowledged, and nobody's any more.
    await Promise.all(writeCalls(first.store, { from: 20, count: 5 }))
    await assert.rejects(first.store.sync(), /another node has taken the session/)
    await assert.rejects(first.store.write(undefined, [lineOf(99, 0)]), /another node/)
    assert.deepEqual([first.taken(), second.taken()], [1, 0])
    await Promise.all(writeCalls(second.store, { from: 20, count: 1 }))
    await second.store.sync()
    await second.store.close()
    await first.store.close()
    assert.equal(await assertStored((await open({ nodeId: 'third' })).store), 21)
  })

  test('a node whose session another one has ended stores and acknowledges nothing', async (t) => {
    const { db, open } = await openNodes(t)
    const job = await addLiveJob(db)
    const openUnderLease = async (nodeId: string) => {
      const { epoch } = (await beginLiveJob(db, job.id, { owner: nodeId, at: Date.now() }))!
      return open({ jobId: job.id, nodeId, epoch })
    }
    const first = await openUnderLease('first')
    await Promise.all(writeCalls(first.store, { count: 3 }))
    await first.store.sync()
    const second = await openUnderLease('second')
    await second.store.delete()

    await Promise.all(writeCalls(first.store, { from: 3, count: 2 }))
    await assert.rejects(first.store.sync(), /another node has taken the session/)
    assert.equal(first.taken(), 1)
  })

  test('only data in the database counts as durable, and the local copy is deleted', async (t) => {
    const { open, folder, id } = await openNodes(t)
    const { store } = await open()
    const copy = join(folder, 'first', id)
    await Promise.all(writeCalls(store, { count: 3 }))
    const durable = async () => (await Array.fromAsync(store.readDurableLines(0))).flat().length
    assert.deepEqual([await durable(), (await linesOf(store)).length], [0, 3])
    await store.sync()
    assert.deepEqual([await durable(), existsSync(copy)], [3, true])
    await store.close()
    assert.ok(!existsSync(copy))
  })

  test('a batch stored despite a lost response is not stored twice', async (t) => {
    const { db, open } = await openNodes(t)
    const real = createBatchWriter({ ...db, nodeId: 'first' }, { intervalMs: 1 })
    let fails = 0
    const writer: BatchWriter = {
      async append(batch) {
        const outcome = await real.append(batch)
        if (batch.seq === 1 && fails++ === 0) throw new Error('the connection broke')
        return outcome
      },
    }
    const { store, taken } = await open({ writer })
    await Promise.all(writeCalls(store, { count: 2 }))
    await store.sync()
    assert.deepEqual([fails, taken()], [2, 0])
    await store.close()
    assert.equal(await assertStored((await open({ nodeId: 'second' })).store), 2)
  })

  test('a session started before the database was shared continues', async (t) => {
    const { open, folder } = await openNodes(t)
    const earlierFolder = join(folder, 'earlier')
    const earlier = await createDiskSessionStore(earlierFolder)
    await earlier.write(audioAt(0, 100), [lineOf(0, 100)])
    await earlier.close()
    const { store, isNew } = await open({ earlierFolder })
    assert.ok(!isNew)
    assert.equal(await assertStored(store), 1)
    await store.close()
    const again = await open({ nodeId: 'second', earlierFolder })
    assert.equal(await assertStored(again.store), 1)
    await again.store.close()
    await again.store.delete()
    assert.ok(!existsSync(earlierFolder))
  })

  test('a session of an earlier server continues although another node opened it', async (t) => {
    const { open, folder } = await openNodes(t)
    const earlierFolder = join(folder, 'earlier')
    const earlier = await createDiskSessionStore(earlierFolder)
    await earlier.write(audioAt(0, 100), [lineOf(0, 100)])
    await earlier.close()
    await open({ nodeId: 'other' })
    const { store, isNew } = await open({ earlierFolder })
    assert.ok(!isNew)
    assert.equal(await assertStored(store), 1)
    await store.close()
    assert.equal(await assertStored((await open({ nodeId: 'third' })).store), 1)
  })

  test('data of an earlier server never mixes with that of a node that was first', async (t) => {
    const { db, open, folder } = await openNodes(t)
    const earlierFolder = join(folder, 'earlier')
    const earlier = await createDiskSessionStore(earlierFolder)
    await earlier.write(audioAt(0, 50), [lineOf(0, 50)])
    await earlier.close()
    const real = createBatchWriter({ ...db, nodeId: 'first' }, { intervalMs: 1 })
    const writer: BatchWriter = {
      async append(batch) {
        if (batch.seq === 0) {
          const { store } = await open({ nodeId: 'other', epoch: 1 })
          await Promise.all(writeCalls(store, { count: 3 }))
          await store.sync()
        }
        return real.append(batch)
      },
    }
    const { store } = await open({ epoch: 2, earlierFolder, writer })
    const lines = await linesOf(store)
    assert.equal(await assertStored(store), 3)
    await store.close()
    const third = await open({ nodeId: 'third', epoch: 3 })
    assert.deepEqual(await linesOf(third.store), lines)
  })

  test('an abandoned session can be read, and leftovers of an ended one are deleted', async (t) => {
    const { db, open, folder } = await openNodes(t)
    const { id: openId } = await addLiveJob(db)
    const ended = randomUUID()
    for (const jobId of [openId, ended]) {
      const { store } = await open({ jobId })
      await store.write(audioAt(0, 10), [lineOf(0, 10)])
      await store.sync()
      await store.close()
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
