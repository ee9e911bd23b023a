import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import { createFakeMedia, oneChunk } from '../../../test/support/audio/fake-media.ts'
import { createToneWav } from '../../../test/support/audio/recordings.ts'
import { ACCOUNT, type EndedJob, openService } from '../../../test/support/jobs/test-service.ts'
import type { Segment } from '../../asr/engines/recognizer.ts'
import type { SpeechEngine } from '../../asr/speech-engine.ts'
import { decodeMedia } from '../../audio/decode-media.ts'
import { probeMedia } from '../../audio/probe-media.ts'
import { AppError } from '../../errors.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { findRecording } from '../../storage/recordings/recordings.ts'
import type { MediaDeps } from './pipeline-deps.ts'

type Result = {
  metadata: Record<string, number>
  transcription: { full_transcript: string; utterances: { channel: number; text: string }[] }
}

/** Returns the result without its timestamp. */
function timeless(job: EndedJob): Result {
  const { metadata, ...rest } = job.result as Result
  const { transcription_time: _, ...others } = metadata
  return { metadata: others, ...rest }
}

test('a finished job reports the decoded duration, not that of its header', async (t) => {
  const media = createFakeMedia()
  const lying: MediaDeps = {
    ...media,
    probe: async (...requested) => ({ ...(await media.probe(...requested)), duration: 99 }),
  }
  const service = await openService(t, { media: lying })
  const id = await service.submit({ seconds: 4 })
  const before = await findJob(service.storage.db, { id, account: ACCOUNT })
  assert.equal(before?.file?.duration, 99)
  await service.jobs.start()
  const job = await service.ended(id)
  const { metadata } = job.result as { metadata: { audio_duration: number } }
  assert.deepEqual([job.file?.duration, metadata.audio_duration], [4, 4])
})

test('each distinct channel is transcribed, and a duplicate only once', async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  const id = await service.submit({ seconds: 4, channels: 3, same: { 1: 0 } })
  const { metadata, transcription } = timeless(await service.ended(id))
  assert.deepEqual(
    transcription.utterances.map(({ channel, text }) => `${channel} ${text}`),
    ['0 hello world', '2 hello world'],
  )
  assert.equal(metadata.number_of_distinct_channels, 2)
  assert.equal(metadata.billing_time, 8)
})

test('a real WAV file is probed, decoded and transcribed per channel', async (t) => {
  const service = await openService(t, { media: { probe: probeMedia, decode: decodeMedia } })
  const { signal } = new AbortController()
  const upload = { filename: 'hum.wav', body: oneChunk(createToneWav(7, 2)), signal }
  const file = await service.jobs.service.upload(ACCOUNT, upload)
  assert.deepEqual([file.extension, file.duration, file.channels], ['wav', 7, 2])
  await service.jobs.start()
  const request = { params: {}, customMetadata: null, fileId: file.id, source: null }
  const job = await service.ended((await service.jobs.service.submit(ACCOUNT, request)).id)
  const { metadata, transcription } = timeless(job)
  assert.deepEqual(metadata, {
    audio_duration: 7,
    number_of_distinct_channels: 2,
    billing_time: 14,
    channel_mode: 'separate',
    warnings: [],
  })
  assert.deepEqual(
    transcription.utterances.map(({ channel, text }) => `${channel} ${text}`),
    ['0 hello world hello world', '1 hello world hello world'],
  )
})

test('a recording without speech is done with an empty transcript', async (t) => {
  const speech = { ...createFakeSpeechEngine('hello'), planRecognition: async () => [] }
  const service = await openService(t, { speech })
  await service.jobs.start()
  const { transcription } = timeless(await service.ended(await service.submit({ seconds: 4 })))
  assert.deepEqual(transcription, { full_transcript: '', languages: [], utterances: [] })
})

test('one batch more than workers runs, and their order does not matter', async (t) => {
  let running = 0
  let most = 0
  const held: (() => void)[] = []
  async function onBatch(): Promise<void> {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => {
      held.push(resolve)
      // The last one that arrived is released first.
      if (held.length === 3) for (const release of held.splice(0).reverse()) setImmediate(release)
    })
    running--
  }
  const service = await openService(t, { speech: createFakeSpeechEngine('one two', { onBatch }) })
  const usual = await openService(t, { speech: createFakeSpeechEngine('one two') })
  await service.jobs.start()
  await usual.jobs.start()
  const disordered = timeless(await service.ended(await service.submit({ seconds: 45 })))
  const ordered = timeless(await usual.ended(await usual.submit({ seconds: 45 })))
  assert.equal(most, 3)
  assert.deepEqual(disordered, ordered)
})

test('a requested language is used', async (t) => {
  const languages = ['en', 'fr']
  const service = await openService(t, { speech: createFakeSpeechEngine('oui', { languages }) })
  await service.jobs.start()
  const params = { language_config: { languages: ['fr'] } }
  const job = await service.ended(await service.submit({ seconds: 4 }, { params }))
  const { transcription } = job.result as { transcription: { languages: string[] } }
  assert.deepEqual(transcription.languages, ['fr'])
})

test('parameters that the recognizer cannot use yield one warning each', async (t) => {
  const engine = { languages: ['fr'], model: 'small', warnings: ['of the model'] }
  const service = await openService(t, { speech: createFakeSpeechEngine('oui', engine) })
  await service.jobs.start()
  const vocabulary = { custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['Oui'] } }
  const params = { ...vocabulary, language_config: { languages: ['en', 'fr'] } }
  const job = await service.ended(await service.submit({ seconds: 20 }, { params }))
  const { metadata } = job.result as { metadata: { warnings: string[] } }
  const left = 'language_config: small does not support en'
  assert.deepEqual(metadata.warnings, [left, 'of the model'])
})

test('a recording shorter or longer than its file states yields a warning', async (t) => {
  const beyond =
    'The file goes on for 1.5 s after the 20.0 s of audio that it states. They were not read: was another file appended?'
  for (const [statedSeconds, unreadSeconds, warnings] of [
    [30, 0, ['The audio ends after 20.0 of the 30.0 s that the file states. Is it cut off?']],
    [20.9, 0, []],
    [15, 0, []],
    [20, 1.5, [beyond]],
    [20, 0.9, []],
  ] as const) {
    const media = createFakeMedia()
    const decode: typeof media.decode = async (...args) => {
      return { ...(await media.decode(...args)), statedSeconds, unreadSeconds }
    }
    const service = await openService(t, { media: { ...media, decode } })
    await service.jobs.start()
    const job = await service.ended(await service.submit({ seconds: 20 }))
    const { metadata } = job.result as { metadata: { warnings: string[] } }
    assert.deepEqual(metadata.warnings, warnings)
  }
})

test('audio tracks that were not read yield a warning', async (t) => {
  const media = createFakeMedia()
  const decode: typeof media.decode = async (...args) => {
    return { ...(await media.decode(...args)), unreadTracks: 2 }
  }
  const service = await openService(t, { media: { ...media, decode } })
  await service.jobs.start()
  const job = await service.ended(await service.submit({ seconds: 20 }))
  const { metadata } = job.result as { metadata: { warnings: string[] } }
  assert.deepEqual(metadata.warnings, [
    'The file has 2 more audio tracks that Steno did not read. To transcribe them, extract each into a file.',
  ])
})

test('the decoder is given the duration of the recording', async (t) => {
  const media = createFakeMedia()
  let seconds: number | null | undefined
  const decode: typeof media.decode = (file, folder, options) => {
    seconds = options.seconds
    return media.decode(file, folder, options)
  }
  const service = await openService(t, { media: { ...media, decode } })
  await service.jobs.start()
  await service.ended(await service.submit({ seconds: 20 }))
  assert.equal(seconds, 20)
})

test('low-confidence words yield a warning in the result', async (t) => {
  const speech = createFakeSpeechEngine('guten Tag', { confidence: 0.2 })
  const service = await openService(t, { speech })
  await service.jobs.start()
  const job = await service.ended(await service.submit({ seconds: 20 }))
  const { metadata } = job.result as { metadata: { warnings: string[] } }
  assert.match(metadata.warnings.join(), /^The recognizer was unsure of most words .*0\.20/)
})

test('an attempt reuses the recognized batches of a failed one', async (t) => {
  const recognized: number[] = []
  let crashes = 1
  let decoded = 0
  async function onBatch([segment]: readonly Segment[]): Promise<void> {
    const number = segment!.start / 80_000
    if (number === 5 && crashes-- > 0) throw new AppError('engine_failed', 'the worker crashed')
    recognized.push(number)
  }
  const media = createFakeMedia(() => {
    decoded++
  })
  const speech = { ...createFakeSpeechEngine('one two', { onBatch }), workers: 0 }
  const service = await openService(t, { speech, media })
  await service.jobs.start()
  const job = await service.ended(await service.submit({ seconds: 40 }))
  assert.equal(job.status, 'done')
  assert.deepEqual(recognized, [0, 2, 4, 6, 1, 3, 5, 7])
  assert.equal(decoded, 1)
  const usual = await openService(t, { speech: createFakeSpeechEngine('one two') })
  await usual.jobs.start()
  const undisturbed = await usual.ended(await usual.submit({ seconds: 40 }))
  assert.deepEqual(timeless(job), timeless(undisturbed))
})

test('an attempt with another model recognizes all batches', async (t) => {
  const recognized: string[] = []
  let crashes = 1
  async function onBatch([segment]: readonly Segment[]): Promise<void> {
    const number = segment!.start / 80_000
    if (number === 1 && crashes-- > 0) throw new AppError('engine_failed', 'the worker crashed')
    recognized.push(`${speech.selectModels(request).finals.model} ${number}`)
  }
  const request = { model: 'stt-1', languages: [], codeSwitching: false, vocabulary: [] }
  const before = createFakeSpeechEngine('before', { onBatch, model: 'before' })
  const after = createFakeSpeechEngine('after', { onBatch, model: 'after' })
  // The model is replaced when the first attempt has failed.
  const speech: SpeechEngine = {
    ...before,
    workers: 0,
    selectModels: (request) => (crashes > 0 ? before : after).selectModels(request),
    runBatch: (batch, options) => {
      return (batch.model === 'before' ? before : after).runBatch(batch, options)
    },
  }
  const service = await openService(t, { speech })
  await service.jobs.start()
  const job = await service.ended(await service.submit({ seconds: 15 }))
  assert.deepEqual(recognized, ['before 0', 'before 2', 'after 0', 'after 2', 'after 1'])
  assert.equal(timeless(job).transcription.full_transcript, 'after after after')
})

test('an undecodable recording is tried once, and the server continues', async (t) => {
  let tries = 0
  const media = createFakeMedia(() => {
    if (tries++ === 0) throw new AppError('media_undecodable', 'bad header')
  })
  const service = await openService(t, { media })
  await service.jobs.start()
  const job = await service.ended(await service.submit({ seconds: 4 }))
  assert.deepEqual([job.status, job.errorCode, job.result], ['error', 400, null])
  const message = 'Cannot decode the media: bad header'
  assert.deepEqual(job.postSessionMetadata, { failure: { code: 400, message } })
  assert.equal(tries, 1)
  assert.equal((await service.ended(await service.submit({ seconds: 4 }))).status, 'done')
})

test('a recording that is too long fails with 413', async (t) => {
  const service = await openService(t, { env: { STENO_MAX_AUDIO_S: '5' } })
  await service.jobs.start()
  assert.equal((await service.ended(await service.submit({ seconds: 6 }))).errorCode, 413)
})

test('a lost upload fails with 404, and the server continues', async (t) => {
  const service = await openService(t)
  const id = await service.submit({ seconds: 4 })
  const { file } = (await findJob(service.storage.db, { id, account: ACCOUNT }))!
  await service.storage.objects.delete(file!.id)
  await service.jobs.start()
  const job = await service.ended(id)
  assert.equal(job.errorCode, 404)
  const failure = { code: 404, message: 'Cannot find the file' }
  assert.deepEqual(job.postSessionMetadata, { failure })
  assert.equal((await service.ended(await service.submit({ seconds: 4 }))).status, 'done')
})

/** Serves recordings that the fake media tools read; returns the origin. */
async function serveRecordings(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/talk%201.wav') response.end(JSON.stringify({ seconds: 4, channels: 2 }))
    else if (request.url === '/noise') response.end('noise')
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a remote recording is fetched, stored and described', async (t) => {
  const origin = await serveRecordings(t)
  const service = await openService(t, { env: { STENO_ALLOW_PRIVATE_NETWORK: 'true' } })
  const source = `${origin}/talk%201.wav`
  const id = await service.submit({ seconds: 1 }, { fileId: null, source })
  const queued = (await findJob(service.storage.db, { id, account: ACCOUNT }))!.file!
  const known = { id: queued.id, filename: 'talk 1.wav', source }
  assert.deepEqual(queued, { ...known, duration: null, channels: null })
  await service.jobs.start()
  const job = await service.ended(id)
  assert.equal(job.status, 'done')
  assert.deepEqual(job.file, { ...known, duration: 4, channels: 2 })
  const { db, objects } = service.storage
  const stored = await findRecording(db, { id: queued.id, account: ACCOUNT })
  assert.equal(stored?.source, source)
  assert.equal(await text((await objects.read(queued.id)).body), '{"seconds":4,"channels":2}')
})

test('a fetched recording is not fetched again by the next attempt', async (t) => {
  const origin = await serveRecordings(t)
  let failures = 1
  const media = createFakeMedia(() => {
    if (failures-- > 0) throw new AppError('engine_failed')
  })
  const env = { STENO_ALLOW_PRIVATE_NETWORK: 'true' }
  const service = await openService(t, { media, env })
  const fetches = t.mock.method(service.storage.objects, 'write')
  await service.jobs.start()
  const source = `${origin}/talk%201.wav`
  const id = await service.submit({ seconds: 1 }, { fileId: null, source })
  assert.equal((await service.ended(id)).status, 'done')
  assert.equal(fetches.mock.callCount(), 2, 'the upload of the test, and the fetch')
})

test('a failing source ends the job with its code and leaves no recording', async (t) => {
  const origin = await serveRecordings(t)
  const service = await openService(t, { env: { STENO_ALLOW_PRIVATE_NETWORK: 'true' } })
  await service.jobs.start()
  for (const [path, code] of [
    ['/gone', 404],
    ['/noise', 415],
  ]) {
    const source = `${origin}${path}`
    const job = await service.ended(await service.submit({ seconds: 1 }, { fileId: null, source }))
    assert.deepEqual([job.status, job.errorCode], ['error', code])
    await assert.rejects(service.storage.objects.check(job.file!.id), { code: 'file_not_found' })
  }
})

test('a private source address is rejected by default', async (t) => {
  const origin = await serveRecordings(t)
  const service = await openService(t)
  await service.jobs.start()
  const source = `${origin}/talk%201.wav`
  const job = await service.ended(await service.submit({ seconds: 1 }, { fileId: null, source }))
  assert.equal(job.errorCode, 502)
})
