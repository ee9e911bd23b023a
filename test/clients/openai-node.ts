import assert from 'node:assert/strict'
import { createReadStream, readFileSync } from 'node:fs'
import { type ClientSet, loadClient } from '../../scripts/tests/test-tools/test-clients.ts'
import { type ClientServer, certificate, openTlsProxy, SPOKEN } from './client-server.ts'

type Segment = { text: string; speaker?: string }
type Response = { text: string; language: string; words: object[]; segments: Segment[] }
type ApiError = Error & { status: number; code: string; type: string; param: string | null }
type Client = {
  audio: {
    transcriptions: { create(options: object): Promise<Response & AsyncIterable<{ type: string }>> }
    translations: { create(options: object): Promise<Response> }
  }
  models: {
    list(): Promise<{ data: { id: string }[] }>
    retrieve(name: string): Promise<{ id: string }>
  }
  post(path: string, options: object): Promise<unknown>
}
type OpenAi = { OpenAI: new (options: object) => Client }
type Event = { type: string; transcript: string }
type Realtime = {
  socket: { on(event: string, listener: () => void): void }
  on(event: string, listener: (event: never) => void): void
  send(event: object): void
  close(): void
}

const COMPLETED = 'conversation.item.input_audio_transcription.completed'

/** OpenAI's package for Node: all forms of a transcription, translations, models and errors. */
export async function checkTranscriptions(server: ClientServer, set: ClientSet): Promise<void> {
  const openai = open(server, set)
  const transcribe = (options: object = {}) => {
    const file = createReadStream(server.recording)
    return openai.audio.transcriptions.create({ model: 'whisper-1', file, ...options })
  }
  assert.match((await transcribe({ language: 'en', prompt: 'Americans' })).text, SPOKEN)
  const granularities = ['word', 'segment']
  const verbose = await transcribe({
    response_format: 'verbose_json',
    timestamp_granularities: granularities,
  })
  assert.equal(verbose.language, 'english')
  assert.ok(verbose.words.length >= 4 && verbose.segments.length > 0)
  const srt = await transcribe({ response_format: 'srt' })
  assert.match(String(srt), /^1\n00:00:00,/)
  const types: string[] = []
  for await (const { type } of await transcribe({ stream: true })) types.push(type)
  assert.deepEqual([types[0], types.at(-1)], ['transcript.text.delta', 'transcript.text.done'])
  const diarize = { model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' }
  const { segments } = await transcribe(diarize)
  assert.equal(segments[0]!.speaker, 'A')
  const file = createReadStream(server.recording)
  const translation = await openai.audio.translations.create({ model: 'whisper-1', file })
  assert.match(translation.text, SPOKEN)
  const [model] = (await openai.models.list()).data
  assert.equal((await openai.models.retrieve(model!.id)).id, model!.id)
}

/** OpenAI's package for Node: each mistake has the class and the form of OpenAI's own answers. */
export async function checkErrors(server: ClientServer, set: ClientSet): Promise<void> {
  const openai = open(server, set)
  const create = (file: unknown, model = 'whisper-1') =>
    failure(openai.audio.transcriptions.create({ model, file }))
  const badFile = await create(createReadStream(server.badFile))
  assert.deepEqual([badFile.name, badFile.status], ['BadRequestError', 400])
  assert.deepEqual([badFile.type, badFile.code], ['invalid_request_error', 'media_unsupported'])
  assert.equal((await create(createReadStream(server.recording), 'nope')).param, 'model')
  const noForm = await failure(
    openai.post('/audio/transcriptions', { body: { model: 'whisper-1' } }),
  )
  assert.deepEqual([noForm.status, noForm.code], [400, 'content_type_unsupported'])
  assert.equal((await failure(openai.models.retrieve('nope'))).status, 404)
  const wrong = await failure(open({ ...server, key: 'wrong' }, set).models.list())
  assert.deepEqual([wrong.name, wrong.code], ['AuthenticationError', 'invalid_api_key'])
}

/** OpenAI's package for Node: realtime transcription behind a proxy with TLS. */
export async function checkRealtime(server: ClientServer, set: ClientSet): Promise<void> {
  const proxy = await openTlsProxy(server.url)
  const { OpenAIRealtimeWS } = loadClient<{
    OpenAIRealtimeWS: new (options: object, client: Client) => Realtime
  }>('openai/realtime/ws', set)
  const client = open({ ...server, url: proxy.url }, set)
  const options = { ca: certificate }
  const isNew = set === 'newest'
  const asked = isNew ? { intent: 'transcription' } : { model: 'gpt-4o-transcribe' }
  const realtime = new OpenAIRealtimeWS({ ...asked, options }, client)
  try {
    const completed = new Promise<Event>((resolve, reject) => {
      realtime.on(COMPLETED, resolve)
      realtime.on('error', reject)
    })
    await new Promise<void>((resolve) => realtime.socket.on('open', resolve))
    const transcription = { model: 'gpt-4o-transcribe', language: 'en' }
    const format = { type: 'audio/pcm', rate: 24_000 }
    const detection = { type: 'server_vad', silence_duration_ms: 500 }
    const input = { format, transcription, turn_detection: detection }
    realtime.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
    const pcm = readFileSync(server.pcm24File)
    for (let at = 0; at < pcm.length; at += 48_000) {
      const audio = pcm.subarray(at, at + 48_000).toString('base64')
      realtime.send({ type: 'input_audio_buffer.append', audio })
    }
    assert.match((await completed).transcript, SPOKEN)
  } finally {
    realtime.close()
    proxy.close()
  }
}

function open({ url, key }: Pick<ClientServer, 'url' | 'key'>, set: ClientSet): Client {
  const { OpenAI } = loadClient<OpenAi>('openai', set)
  return new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
}

async function failure(action: Promise<unknown>): Promise<ApiError> {
  return action.then(
    () => assert.fail('this should have failed'),
    (error: ApiError) => Object.assign(error, { name: error.constructor.name }),
  )
}
