// A process that shares a data folder with others and is in the middle of everything: it runs a
// job, has stored an object that no row refers to yet, and writes another. Sends what it works on.
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '../../../src/observability/log.ts'
import { openStorage } from '../../../src/storage/storage.ts'
import { oneChunk } from '../audio/fake-media.ts'
import { addFile, addJob, claim } from '../jobs/test-jobs.ts'

/** What the process works on: its owner, its job, and the object that it has stored. */
export type Work = { owner: string; job: string; object: string }

const folder = process.argv[2]!
const { db } = await openStorage({ folder, log: createLog('silent'), isShared: true })
const limits = { maxBytes: 1000, signal: new AbortController().signal }
const fileId = await addFile(db, { account: 'acme' })
await db.objects.write(fileId, oneChunk(Buffer.from('{"seconds":1}')), limits)
await addJob(db, { fileId })
const { id: job } = (await claim(db, { owner: db.nodeId, now: Date.now() }))!
await mkdir(join(folder, 'work', job), { recursive: true })
const object = randomUUID()
await db.objects.write(object, oneChunk(Buffer.from('not referred to yet')), limits)

const writing = Promise.withResolvers<void>()
async function* endless(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half')
  writing.resolve()
  await delay(2 ** 31 - 1)
}
void db.objects.write(randomUUID(), endless(), limits)
await writing.promise
const work: Work = { owner: db.nodeId, job, object }
process.send!(work)
