import assert from 'node:assert/strict'
import { validateFields } from '../../../src/api/bodies/validation/validate-fields.ts'
import { RealtimeConnection } from '../../../src/api/openai/realtime/realtime-connection.ts'
import type { toLiveSessionRequest } from '../../../src/api/openai/realtime/session-settings.ts'
import { liveRequest } from '../../../src/api/schemas/live/live-request.ts'
import { readConfig } from '../../../src/config/config.ts'
import { readFrame } from '../../../src/live/input/client-frames.ts'
import { fuzzBytes } from '../../guided.ts'

const audio = Buffer.from(Array.from({ length: 60 }, (_, i) => i)).toString('base64')
const texts = (...values: unknown[]) => values.map((value) => Buffer.from(JSON.stringify(value)))

const live = texts(
  { type: 'audio_chunk', data: { chunk: audio } },
  { type: 'stop_recording' },
  { data: { chunk: `${audio}==`, more: [1] }, type: 'audio_chunk' },
)
const session = {
  type: 'transcription',
  audio: {
    input: {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: { model: 'whisper-1', language: 'en', prompt: 'Keywords: one, two' },
      turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
    },
  },
  include: ['item.input_audio_transcription.logprobs'],
}
const events = [
  ...texts({ type: 'session.update', event_id: 'e1', session }),
  ...texts({
    type: 'transcription_session.update',
    session: {
      input_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'stt-1', language: 'de', prompt: 'one' },
      turn_detection: null,
    },
  }),
  ...texts({ type: 'input_audio_buffer.append', audio }, { type: 'input_audio_buffer.commit' }),
  ...texts({ type: 'input_audio_buffer.clear' }),
]

const { requests, ...config } = readConfig({})
const schema = liveRequest({ requests, ...config })

/** The parameters of a session must be valid for `POST /v2/live`, or be refused there. */
function open(body: ReturnType<typeof toLiveSessionRequest>): never {
  validateFields(schema, JSON.parse(JSON.stringify(body)), requests)
  throw new Error('no session in this test')
}

/** Every event gets a response, and never a server error. */
async function receiveEvents(bytes: Buffer): Promise<void> {
  const connection = new RealtimeConnection({
    account: 'acme',
    version: bytes.length % 2 === 0 ? 'ga' : 'beta',
    async check(body) {
      validateFields(schema, JSON.parse(JSON.stringify(body)), requests)
    },
    open: async (body) => open(body as ReturnType<typeof toLiveSessionRequest>),
  })
  // Several events, one after another.
  for (const line of bytes.toString('latin1').split('\n')) {
    connection.receive(Buffer.from(line, 'latin1'), false)
  }
  connection.receive(bytes, true)
  await connection.whenReadable()
  connection.end(1000)
  for await (const { text } of connection.messages()) {
    const { type, error } = JSON.parse(text) as { type: string; error?: { type: string } }
    assert.equal(typeof type, 'string')
    assert.ok(text.length < 10_000 + bytes.length)
    // A session that cannot be opened is the only failure, and made above.
    if (error?.type === 'server_error') assert.equal(connection.closeCode, 4500, text)
  }
}

await fuzzBytes('frames', { live, events }, (bytes, kind) => {
  if (kind === 'events') return receiveEvents(bytes)
  const frame = readFrame(bytes, false)
  if (frame.type === 'audio') assert.ok(frame.bytes.length <= bytes.length)
  if ('message' in frame) assert.ok(frame.message.length < 200)
})
