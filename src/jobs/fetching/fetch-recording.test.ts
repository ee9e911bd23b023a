import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createFakeMedia } from '../../../test/support/audio/fake-media.ts'
import { claim, returnLost } from '../../../test/support/jobs/test-jobs.ts'
import { ACCOUNT, openService, type TestService } from '../../../test/support/jobs/test-service.ts'
import { cancelRecordedJob } from '../../storage/jobs/cancel-job.ts'

/**
 * Fetches a recording for a job; `change` runs when its bytes are stored and its row is not.
 * Returns how many objects there are when the attempt has ended.
 */
async function countFetched(
  t: TestContext,
  change: (service: TestService, jobId: string) => Promise<unknown>,
): Promise<number> {
  const source = createServer((_, response) => response.end('{"seconds":1}'))
  source.listen(0, '127.0.0.1')
  t.after(() => source.close())
  await once(source, 'listening')
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/talk.wav`
  const probed = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  const media = createFakeMedia()
  const service = await openService(t, {
    env: { STENO_ALLOW_PRIVATE_NETWORK: 'true' },
    media: {
      ...media,
      async probe(...request) {
        probed.resolve()
        await changed.promise
        return media.probe(...request)
      },
    },
  })
  const request = { params: {}, customMetadata: null, fileId: null, source: url }
  const { id } = await service.jobs.service.submit(ACCOUNT, request)
  await service.jobs.start()
  await probed.promise
  await change(service, id)
  changed.resolve()
  await service.jobs.drain()
  return (await Array.fromAsync(service.storage.objects.list())).flat().length
}

test('a recording whose job ended elsewhere while it was fetched is deleted', async (t) => {
  const failure = { code: 499, message: 'canceled' }
  const left = await countFetched(t, ({ storage }, id) => {
    return cancelRecordedJob(storage.db, { id, account: ACCOUNT }, { failure, at: Date.now() })
  })
  assert.equal(left, 0)
})

test('a recording stays whose job went to another attempt while it was fetched', async (t) => {
  const left = await countFetched(t, async ({ storage: { db } }) => {
    await returnLost(db, { now: Date.now() + 1e9 })
    assert.ok(await claim(db, { owner: 'other', now: Date.now() + 2e9 }))
  })
  assert.equal(left, 1)
})
