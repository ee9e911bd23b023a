import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../../../config/config.ts'
import { createLog } from '../../../observability/log.ts'
import { BodyThread } from './body-thread.ts'

const common = { settings: readConfig({}), log: createLog('silent') }

function open(t: TestContext, options: { entry?: URL; timeoutMs?: number } = {}) {
  const thread = new BodyThread({ ...common, ...options })
  t.after(() => thread.close())
  return (text: string) => {
    const bytes = Buffer.from(text)
    return thread.read({ kind: 'upload-address', bytes, wantsFingerprint: false })
  }
}

test('the body thread returns the same values and errors as the event loop', async (t) => {
  const read = open(t)
  const audio_url = 'https://a.example/'
  assert.deepEqual(await read(JSON.stringify({ audio_url })), { audio_url })
  await assert.rejects(read('{"audio_url":5}'), {
    code: 'request_invalid',
    message: 'Invalid request parameters, see validation_errors',
    validationErrors: ['audio_url must be an absolute http or https URL'],
  })
  await assert.rejects(read('{'), { code: 'body_unreadable', message: /it is not valid JSON$/ })
})

test('close() rejects running and waiting bodies', async (t) => {
  const thread = new BodyThread(common)
  t.after(() => thread.close())
  const task = { kind: 'resend', wantsFingerprint: false } as const
  const requested = [1, 2].map(() => thread.read({ ...task, bytes: Buffer.from('{}') }))
  const outcomes = Promise.allSettled(requested)
  await thread.close()
  for (const one of await outcomes) {
    assert.equal(one.status === 'rejected' && one.reason.code, 'server_stopping')
  }
})

test('a body that crashes or blocks the thread does not affect the next ones', async (t) => {
  const entry = new URL('../../../../test/support/api/misbehaving-body-thread.ts', import.meta.url)
  const read = open(t, { entry, timeoutMs: 5000 })
  const bodies = ['first', 'breaks', 'second', 'hangs', 'third']
  const outcomes = await Promise.allSettled(bodies.map(read))
  const seen = outcomes.map((one) => {
    return one.status === 'fulfilled' ? one.value.audio_url : one.reason.code
  })
  assert.deepEqual(seen, ['first', 'body_unreadable', 'second', 'body_unreadable', 'third'])
})
