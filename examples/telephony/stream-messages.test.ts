import assert from 'node:assert/strict'
import test from 'node:test'
import { readMessage } from './stream-messages.ts'

const read = (message: object) => readMessage(JSON.stringify(message))
const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 }
const start = { streamSid: 'MZ1', callSid: 'CA1', tracks: ['outbound', 'inbound'], mediaFormat }

test('readMessage parses the messages of providers, including numbers sent as strings', () => {
  assert.deepEqual(read({ event: 'start', start }), {
    event: 'start',
    callId: 'CA1',
    streamId: 'MZ1',
    tracks: ['inbound', 'outbound'],
  })
  const media = { track: 'outbound', chunk: '2', timestamp: '40', payload: 'AQI=' }
  assert.deepEqual(read({ event: 'media', sequenceNumber: '3', media }), {
    event: 'media',
    track: 'outbound',
    ms: 40,
    audio: Buffer.of(1, 2),
  })
  assert.deepEqual(read({ event: 'media', media: { payload: '', timestamp: 'x' } }), {
    event: 'media',
    track: 'inbound',
    ms: undefined,
    audio: Buffer.alloc(0),
  })
  assert.deepEqual(read({ event: 'stop', stop: {} }), { event: 'stop' })
  for (const event of ['connected', 'mark', 'dtmf']) {
    assert.deepEqual(read({ event }), { event: 'other' })
  }
})

test('readMessage rejects malformed messages and other audio formats', () => {
  assert.throws(() => readMessage('nonsense'), /not JSON/)
  assert.throws(() => readMessage('[]'), /not JSON with an event/)
  assert.throws(() => read({ event: 'start', start: { ...start, tracks: ['x'] } }), /no track/)
  const other = { ...start, mediaFormat: { ...mediaFormat, sampleRate: 16_000 } }
  assert.throws(() => read({ event: 'start', start: other }), /no audio\/x-mulaw of 8000 Hz/)
  assert.throws(() => read({ event: 'media', media: { track: 'x', payload: '' } }), /no payload/)
  assert.throws(() => read({ event: 'media', media: {} }), /no payload/)
})
