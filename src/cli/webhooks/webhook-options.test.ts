import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '../terminal/arguments.ts'
import { parseEventNames, readWebhookUrl } from './webhook-options.ts'

test('a webhook URL must be absolute http or https and is normalized', () => {
  assert.equal(readWebhookUrl('HTTPS://A.example:443'), 'https://a.example/')
  assert.equal(readWebhookUrl('http://a.example/x?y=1'), 'http://a.example/x?y=1')
  const wrong = [
    '',
    'a.example',
    '/x',
    'ftp://a.example',
    'https:a.example',
    'https://',
    'http://a b/',
  ]
  for (const text of [...wrong, 'https://a.example/#x', 'https://a.example/#']) {
    assert.throws(() => readWebhookUrl(text), UsageError, text)
  }
})

test('--events are deduplicated in a fixed order, and default to all', () => {
  const events = ['transcription.success', 'live.end_session']
  assert.deepEqual(
    parseEventNames('live.end_session, transcription.success,live.end_session'),
    events,
  )
  assert.equal(parseEventNames(undefined), null)
  for (const text of ['', 'live.transcript', 'live.end_session,']) {
    assert.throws(
      () => parseEventNames(text),
      /^UsageError: --events must be some of transcription/,
    )
  }
})
