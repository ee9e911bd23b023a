import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Db } from '../../../../src/storage/database/db.ts'
import { createJobWriter } from '../../../../src/storage/jobs/job-writer.ts'
import type { NewLiveJob } from '../../../../src/storage/jobs/queue/insert-job.ts'
import { beginLiveJob } from '../../../../src/storage/live/live-jobs.ts'

/** Returns a live job as a client could have requested it; its token is derived from its id. */
export function newLiveJob(given: Partial<NewLiveJob> = {}): NewLiveJob {
  const id = given.id ?? randomUUID()
  return {
    kind: 'live',
    id,
    account: 'acme',
    createdAt: 1000,
    params: { model: 'stt-1' },
    customMetadata: null,
    token: `token-of-${id}`,
    channels: 2,
    ...given,
  }
}

/** Creates a live job. */
export async function addLiveJob(db: Db, given: Partial<NewLiveJob> = {}): Promise<NewLiveJob> {
  const job = newLiveJob(given)
  assert.equal(await createJobWriter(db)(job, { maxQueued: 1000 }), 'created')
  return job
}

/** Creates a live job whose first socket has connected. */
export async function beginNewLiveJob(db: Db, given: Partial<NewLiveJob> = {}) {
  const job = await addLiveJob(db, given)
  const lease = await beginLiveJob(db, job.id, { owner: 'server', at: Date.now() })
  assert.ok(lease)
  return { ...job, lease }
}
