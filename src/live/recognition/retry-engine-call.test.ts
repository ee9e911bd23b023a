import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError, type ErrorCode } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import { retryEngineCall } from './retry-engine-call.ts'

const log = createLog('silent')

/** Returns a call that fails this many times before it succeeds. */
function failing(times: number, code: ErrorCode) {
  let left = times
  return async () => {
    if (left-- > 0) throw new AppError(code)
    return 'heard'
  }
}

test('a call whose process crashed is retried', async () => {
  const { signal } = new AbortController()
  assert.equal(await retryEngineCall(failing(1, 'engine_failed'), { signal, log }), 'heard')
})

test('a full disk or an unavailable engine is retried without limit', async () => {
  const { signal } = new AbortController()
  for (const code of ['storage_full', 'engine_unavailable'] as const) {
    assert.equal(await retryEngineCall(failing(50, code), { signal, log, waitMs: 0 }), 'heard')
  }
})

test('audio that stays unreadable is reported', async () => {
  const { signal } = new AbortController()
  const options = { signal, log, waitMs: 0 }
  assert.equal(await retryEngineCall(failing(50, 'storage_unreadable'), options), 'heard')
  const lost = failing(1_000_000, 'storage_unreadable')
  await assert.rejects(retryEngineCall(lost, options), { code: 'storage_unreadable' })
})

test('an unexpected error is not retried', async () => {
  const { signal } = new AbortController()
  let calls = 0
  const call = async () => {
    calls++
    throw new TypeError('a mistake')
  }
  await assert.rejects(retryEngineCall(call, { signal, log }), TypeError)
  assert.equal(calls, 1)
})

test('suspending the session stops the retries', async () => {
  const leaving = new AbortController()
  const call = failing(1_000_000, 'storage_full')
  const insisting = retryEngineCall(call, { signal: leaving.signal, log, waitMs: 10_000 })
  leaving.abort()
  await assert.rejects(insisting, { name: 'AbortError' })
})
