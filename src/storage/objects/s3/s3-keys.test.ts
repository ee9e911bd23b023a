import assert from 'node:assert/strict'
import test from 'node:test'
import type { S3 } from './s3-client.ts'
import { findKeys } from './s3-keys.ts'

const ID = '0b8c2c0e-7d1d-4f4e-9a35-0f6d6f1f6b11'

/** Storage that answers every list in the same way. */
function listing(response: object): S3 {
  const commands = { ListObjectsV2Command: class {} }
  const client = { send: async () => response }
  return { client, commands, bucket: 'b', prefix: '', encryption: {} } as unknown as S3
}

test('list entries without a key are ignored', async () => {
  const key = `objects/0b/${ID}`
  const found = await findKeys(listing({ Contents: [{}, { Key: key, Size: 5 }] }), 'objects', ID)
  assert.deepEqual(found, [{ key, size: 5, storedAt: 0 }])
})

test('a list whose next page repeats its token ends with an error', async () => {
  const endless = findKeys(listing({ NextContinuationToken: 't' }), 'objects', ID)
  await assert.rejects(endless, { code: 'object_store_unavailable' })
})
