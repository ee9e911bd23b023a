import assert from 'node:assert/strict'
import test from 'node:test'
import { addLiveJob } from '../../../../test/support/live/sessions/test-live-jobs.ts'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { beginLiveJob, finishLiveJob, releaseLiveJob } from '../../../storage/live/live-jobs.ts'
import { ForwardedClients } from './forwarded-clients.ts'

const end = {
  result: { result: '{}', result_object: null, result_size: null },
  file: undefined,
  at: 9000,
}

test('clients of a session that left its node are cut once, and no others', async (t) => {
  const { db } = await openTestStorage(t)
  const clients = new ForwardedClients({ db, log: createLog('silent') })
  t.after(() => clients.clear())
  const cut: string[] = []
  const nodeId = db.nodeId
  const begin = async (name: string) => {
    const { id: jobId } = await addLiveJob(db)
    const lease = (await beginLiveJob(db, jobId, { owner: nodeId, at: Date.now() }))!
    return { jobId, lease, remove: clients.add({ jobId, nodeId, cut: () => cut.push(name) }) }
  }
  await begin('stays')
  const left = await begin('left')
  const ended = await begin('ended')
  const gone = await begin('gone')
  await clients.check()
  assert.deepEqual(cut, [])
  await releaseLiveJob(db, left.lease)
  await finishLiveJob(db, ended.lease, end)
  await releaseLiveJob(db, gone.lease)
  gone.remove()
  await clients.check()
  await clients.check()
  assert.deepEqual(cut, ['left'])
})
