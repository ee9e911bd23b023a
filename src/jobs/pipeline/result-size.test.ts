import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../../errors.ts'
import { checkResultSize } from './result-size.ts'

const job = { account: 'acme' }
const MB = 1024 * 1024

test('an oversized result is rejected, and a large one must fit the quota', async () => {
  const requested: [string, number | undefined][] = []
  const space = {
    checkQuota: async (account: string, bytes?: number) => void requested.push([account, bytes]),
  }
  await checkResultSize(space, job, 'x'.repeat(MB))
  assert.deepEqual(requested, [])
  await checkResultSize(space, job, 'x'.repeat(MB + 1))
  assert.deepEqual(requested, [['acme', MB + 1]])
  const refused = { code: 'result_too_large', status: 413 }
  await assert.rejects(checkResultSize(space, job, 'x'.repeat(128 * MB + 1)), refused)
  const full = { checkQuota: () => Promise.reject(new AppError('quota_exceeded')) }
  await assert.rejects(checkResultSize(full, job, 'x'.repeat(2 * MB)), { code: 'quota_exceeded' })
})
