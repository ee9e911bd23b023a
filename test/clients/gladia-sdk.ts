import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type ClientSet, loadClient } from '../../scripts/tests/test-tools/test-clients.ts'
import { type ClientServer, SPOKEN } from './client-server.ts'

type Job = {
  id: string
  status: string
  request_params: { model: string }
  custom_metadata?: object
  result: {
    transcription: { full_transcript: string; utterances: { speaker: number; words: object[] }[] }
  }
}
type HttpError = Error & { status: number; requestId: string; id: string }
type PreRecorded = {
  transcribe(audio: string | Blob, options: object, polling: object): Promise<Job>
  uploadFile(path: string): Promise<unknown>
  get(id: string): Promise<Job>
  list(params: object): Promise<{ items: Job[]; next: string | null }>
  getFile(id: string): Promise<ArrayBuffer>
  delete(id: string): Promise<boolean>
}
type Message = {
  type: string
  data: { is_final: boolean; utterance: { text: string }; byte_range: [number, number] }
}
type Session = {
  getSessionId(): Promise<string>
  on(event: string, listener: (message: never) => void): void
  once(event: string, listener: (message: never) => void): void
  sendAudio(audio: Uint8Array): void
  stopRecording(): void
}
type Live = {
  startSession(options: object): Session
  get(id: string): Promise<Job>
  getFile(id: string): Promise<ArrayBuffer>
}
type Sdk = {
  GladiaClient: new (
    options: object,
  ) => { preRecorded?(): PreRecorded; preRecordedV2?(): PreRecorded; liveV2(): Live }
}

const POLLING = { interval: 100 }
/** Bytes of the recording up to a moment at which somebody speaks. */
const WHILE_SPEAKING = 51_200

/** The vendor's JavaScript SDK: uploads, URLs, options, callbacks, lists, files and errors. */
export async function checkRecordings(server: ClientServer, set: ClientSet): Promise<void> {
  const { GladiaClient } = loadClient<Sdk>('@gladiaio/sdk', set)
  const { url: apiUrl, key: apiKey, receiver } = server
  const jobs = new GladiaClient({ apiUrl, apiKey }).preRecorded!()
  const done = await jobs.transcribe(
    server.recording,
    {
      language_config: { languages: ['en'] },
      diarization: true,
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['fellow Americans'] },
      callback: true,
      callback_config: { url: `${receiver.url}/sdk` },
      custom_metadata: { team: 'red' },
    },
    POLLING,
  )
  assert.equal(done.status, 'done')
  const { full_transcript: text, utterances } = done.result.transcription
  assert.match(text, SPOKEN)
  assert.equal(utterances[0]!.speaker, 0)
  assert.ok(utterances[0]!.words.length >= 4)
  await receiver.until('/sdk', 1)

  const fromUrl = await jobs.transcribe(server.recordingUrl, {}, POLLING)
  assert.match(fromUrl.result.transcription.full_transcript, SPOKEN)
  const { items } = await jobs.list({ custom_metadata: { team: 'red' }, status: ['done'] })
  assert.deepEqual(
    items.map(({ id }) => id),
    [done.id],
  )
  const recording = await jobs.getFile(done.id)
  assert.equal(recording.byteLength, readFileSync(server.recording).byteLength)
  assert.equal(await jobs.delete(done.id), true)

  const missing = await failure(jobs.get(done.id))
  assert.equal(missing.status, 404)
  assert.match(missing.message, /Cannot find the job/)
  assert.match(missing.requestId, /^G-/)
  assert.equal(missing.id, missing.requestId)
  assert.equal((await failure(jobs.uploadFile(server.badFile))).status, 415)
  const wrong = new GladiaClient({ apiUrl, apiKey: 'wrong' }).preRecorded!()
  assert.equal((await failure(wrong.get(done.id))).status, 401)
}

/** The vendor's JavaScript SDK with each name of a model, ours and the vendor's. */
export async function checkModels(server: ClientServer, set: ClientSet): Promise<void> {
  const { GladiaClient } = loadClient<Sdk>('@gladiaio/sdk', set)
  const jobs = new GladiaClient({ apiUrl: server.url, apiKey: server.key }).preRecorded!()
  const language_config = { languages: ['en'] }
  for (const model of [
    'stt-1',
    'stt-3',
    'stt-fusion',
    'solaria-1',
    'solaria-3',
    'solaria-fusion',
  ]) {
    const job = await jobs.transcribe(server.recording, { model, language_config }, POLLING)
    assert.match(job.result.transcription.full_transcript, SPOKEN, model)
    assert.equal(job.request_params.model, model)
  }
}

/** The vendor's JavaScript SDK in a live session: messages, acknowledgments and its end. */
export async function checkLive(server: ClientServer, set: ClientSet): Promise<void> {
  const { GladiaClient } = loadClient<Sdk>('@gladiaio/sdk', set)
  const client = new GladiaClient({ apiUrl: server.url, apiKey: server.key }).liveV2()
  const session = client.startSession({
    model: 'solaria-1',
    encoding: 'wav/pcm',
    sample_rate: 16_000,
    bit_depth: 16,
    channels: 1,
    language_config: { languages: ['en'] },
    messages_config: {
      receive_partial_transcripts: true,
      receive_acknowledgments: true,
      receive_lifecycle_events: true,
    },
  })
  const messages: Message[] = []
  const errors: Error[] = []
  const ended = new Promise<{ code: number }>((resolve) => session.once('ended', resolve))
  const { promise: transcribed, resolve } = Promise.withResolvers<void>()
  session.on('message', (message: Message) => {
    messages.push(message)
    if (message.type === 'transcript') resolve()
  })
  session.on('error', (error: Error) => void errors.push(error))
  const id = await session.getSessionId()
  const pcm = readFileSync(server.pcmFile)
  const send = (from: number, to: number) => {
    for (let at = from; at < to; at += 6400) session.sendAudio(pcm.subarray(at, at + 6400))
  }
  send(0, WHILE_SPEAKING)
  await transcribed
  send(WHILE_SPEAKING, pcm.length)
  session.stopRecording()
  assert.equal((await ended).code, 1000)
  assert.deepEqual(errors, [])
  const of = (type: string) => messages.filter((message) => message.type === type)
  const transcripts = of('transcript').map(({ data }) => data)
  assert.ok(transcripts.some(({ is_final: isFinal }) => !isFinal))
  const finals = transcripts.filter(({ is_final: isFinal }) => isFinal)
  assert.match(finals.map(({ utterance }) => utterance.text.trim()).join(' '), SPOKEN)
  assert.equal(of('audio_chunk').at(-1)!.data.byte_range[1], pcm.length)
  for (const type of ['start_session', 'start_recording', 'end_recording', 'end_session']) {
    assert.equal(of(type).length, 1, type)
  }
  if (client.get) {
    assert.equal((await client.get(id)).status, 'done')
    assert.equal((await client.getFile(id)).byteLength, pcm.length + 44)
  }
}

/**
 * The vendor's JavaScript SDK with a wrong key: the session ends with an error, without retries.
 */
export async function checkRefusedSession(server: ClientServer, set: ClientSet): Promise<void> {
  const { GladiaClient } = loadClient<Sdk>('@gladiaio/sdk', set)
  const client = new GladiaClient({ apiUrl: server.url, apiKey: 'wrong' }).liveV2()
  const session = client.startSession({ language_config: { languages: ['en'] } })
  session.getSessionId().catch(() => {})
  const refused = new Promise<HttpError>((resolve) => session.once('error', resolve))
  assert.equal((await refused).status, 401)
}

async function failure(action: Promise<unknown>): Promise<HttpError> {
  const error = await action.then(
    () => assert.fail('this should have failed'),
    (cause: HttpError) => cause,
  )
  return error
}
