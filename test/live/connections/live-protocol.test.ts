import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { wavHeader } from '../../../src/audio/containers/wav-header.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { chunksOf, interleave, synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { connect, type LiveClient, openSession } from '../../support/live/clients/live-client.ts'
import {
  ackedRanges,
  finalsOf,
  type LiveMessage,
  ofType,
} from '../../support/live/clients/live-messages.ts'
import { allFlags as all } from '../../support/live/sessions/live-flags.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello big world') })
})
after(() => server.close())

type Params = Record<string, unknown>
type Result = {
  metadata: Record<string, number> & { warnings?: unknown }
  transcription: { full_transcript: string; languages: string[]; utterances: unknown[] }
  messages: string[]
  [addOn: string]: unknown
}
type Job = { status: string; result: Result; file: Record<string, unknown> }

const none = Object.fromEntries(Object.keys(all).map((flag) => [flag, false]))

/** Opens a session, sends the chunks, stops, and waits for the end. */
async function run(
  chunks: readonly Uint8Array[],
  params: Params = {},
): Promise<{ id: string; client: LiveClient; code: number; job: Job }> {
  const { id, url } = await openSession(server, params)
  const client = await connect(url)
  for (const chunk of chunks) client.send(chunk)
  client.stop()
  const { code } = await client.closed
  const { body } = await call<Job>(server, `/v2/live/${id}`)
  return { id, client, code, job: body }
}

async function download(id: string): Promise<Buffer> {
  const headers = { 'x-service-key': server.key }
  const response = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/octet-stream')
  return Buffer.from(await response.arrayBuffer())
}

/** The types of messages in order, acknowledgments of chunks left out. */
function typesOf(messages: readonly LiveMessage[]): string[] {
  return messages.map(({ type }) => type).filter((type) => type !== 'audio_chunk')
}

const speech = synthesizeAudio('....##########.....########.....')

test('a session sends its transcripts, closes with 1000 and becomes a done job', async () => {
  const { id, client, code, job } = await run(chunksOf(speech, 3200), {
    messages_config: { receive_lifecycle_events: true },
    post_processing: { summarization: true },
  })
  assert.equal(code, 1000)
  const types = typesOf(client.messages)
  assert.equal(types[0], 'start_recording')
  assert.deepEqual(types.slice(-6), [
    'transcript',
    'end_recording',
    'post_transcript',
    'post_summarization',
    'post_final_transcript',
    'end_session',
  ])
  assert.equal(job.status, 'done')
  assert.deepEqual(job.file.audio_duration, 3.2)
  assert.equal(job.result.transcription.full_transcript, 'hello big world hello big world')
  assert.deepEqual(job.result.transcription.languages, ['en'])
  const { transcription_time, ...metadata } = job.result.metadata
  const sizes = { audio_duration: 3.2, number_of_distinct_channels: 1, billing_time: 3.2 }
  assert.deepEqual(metadata, { ...sizes, warnings: [] })
  assert.ok(transcription_time! > 0)
  assert.deepEqual(
    (await download(id)).subarray(44),
    speech,
    'the recording is what was sent, behind its header',
  )
})

test('a session that gets a file instead of samples has a warning', async () => {
  const webm = Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex')
  const { job } = await run([webm, Buffer.from('OggS')])
  assert.deepEqual(job.result.metadata.warnings, [
    'the audio begins like a .webm file, but a session takes samples: decode the file, or upload it as a recording',
  ])
})

test('the result contains all sent messages in order', async () => {
  const { client, job } = await run(chunksOf(speech, 1000), {
    messages_config: all,
    realtime_processing: { sentiment_analysis: true },
    post_processing: { summarization: true },
  })
  assert.deepEqual(job.result.messages, client.texts)
})

test('the last messages contain the result itself', async () => {
  const { client, job } = await run([speech], { realtime_processing: { sentiment_analysis: true } })
  const { messages: _, ...result } = job.result
  const [last] = ofType(client.messages, 'post_final_transcript')
  assert.deepEqual(last?.data, result)
  const [transcription] = ofType(client.messages, 'post_transcript')
  assert.deepEqual(transcription?.data, result.transcription)
})

test('every word of a live utterance starts with a space, and its text joins them', async () => {
  const { client } = await run([speech])
  const finals = finalsOf(client.messages)
  assert.equal(finals.length, 2)
  for (const { data } of finals) {
    const { text, words, start, end } = data.utterance
    assert.equal(text, ' hello big world')
    assert.equal(words.map(({ word }) => word).join(''), text)
    assert.deepEqual([start, end], [words[0]!.start, words.at(-1)!.end])
  }
  assert.deepEqual(
    finals.map(({ data }) => data.id),
    ['00_00000000', '00_00000001'],
  )
})

test('speech events alternate and surround the partials and finals', async () => {
  const { client } = await run(chunksOf(speech, 3200), { messages_config: all })
  const sent = client.messages.filter(({ type }) => /^(speech_|transcript)/.test(type))
  const events = sent.filter((message) => message.type !== 'transcript')
  assert.deepEqual(
    events.map(({ type }) => type),
    ['speech_start', 'speech_end', 'speech_start', 'speech_end'],
  )
  const times = events.map((event) => (event.data as { time: number }).time)
  for (const [i, expected] of [0.4, 1.4, 1.9, 2.7].entries()) {
    assert.ok(Math.abs(times[i]! - expected) < 0.05, `${times[i]} is about ${expected}`)
  }
  const at = (message: LiveMessage) => sent.indexOf(message)
  const partials = ofType(sent, 'transcript').filter(({ data }) => !data.is_final)
  assert.ok(partials.length > 0)
  for (const final of finalsOf(sent)) {
    const before = sent.slice(0, at(final))
    const mine = partials.filter(({ data }) => data.id === final.data.id)
    assert.ok(mine.every((partial) => at(partial) < at(final)))
    assert.equal(before.filter(({ type }) => type === 'speech_end').length > 0, true)
  }
})

test('acknowledgments are half-open and contiguous for any chunks', async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  const pieces = [1, 3199, 0, 3201, 1000, 64_001].map((length, i) => speech.subarray(i, i + length))
  for (const [i, piece] of pieces.entries()) {
    if (i % 2) client.sendBase64(piece)
    else client.send(piece)
  }
  client.stop()
  await client.closed
  const ranges = ackedRanges(client.messages)
  const ends = pieces.map((_, i) => Buffer.concat(pieces.slice(0, i + 1)).length)
  assert.deepEqual(
    ranges,
    ends.map((end, i) => [ends[i - 1] ?? 0, end]),
  )
  const times = ofType(client.messages, 'audio_chunk').map(({ data }) => data!.time_range)
  assert.deepEqual(
    times.at(-1),
    [7401 / 32_000, 71_402 / 32_000].map((t) => Math.round(t * 1e6) / 1e6),
  )
  assert.deepEqual((await download(id)).subarray(44), Buffer.concat(pieces))
})

test('WAV headers count as bytes, not as time, and are not recorded', async () => {
  const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const
  const header = Buffer.from(wavHeader(format, 3200))
  const [a, b, c] = chunksOf(speech, 3200)
  const chunks = [header.subarray(0, 30), header.subarray(30), a!, Buffer.concat([header, b!]), c!]
  const { id, client, job } = await run(chunks)
  assert.deepEqual(ackedRanges(client.messages).at(-1), [6488, 9688])
  assert.equal(job.result.metadata.audio_duration, 0.3)
  assert.deepEqual((await download(id)).subarray(44), Buffer.concat([a!, b!, c!]))
})

test('bad base64, audio after the stop and a second stop are refused', async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.sendJson({ type: 'audio_chunk', data: { chunk: '*not base64*' } })
  client.sendJson({ type: 'audio_chunk', data: {} })
  client.send(speech.subarray(0, 3200))
  client.stop()
  client.send(speech)
  client.stop()
  assert.equal((await client.closed).code, 1000)
  const refused = client.messages.filter((message) => 'error' in message && message.error)
  assert.deepEqual(
    refused.map((message) => [
      message.type,
      (message as { error: { status_code: number } }).error.status_code,
    ]),
    [
      ['audio_chunk', 400],
      ['audio_chunk', 400],
      ['audio_chunk', 409],
      ['stop_recording', 409],
    ],
  )
  assert.deepEqual(ackedRanges(client.messages), [[0, 3200]])
  assert.equal((await download(id)).length, 44 + 3200)
})

test('unreadable frames get an error, and twenty in a row close with 4400', async () => {
  const { url } = await openSession(server)
  const client = await connect(url)
  for (let i = 0; i < 19; i++) client.sendJson({ type: 'hello' })
  client.send(speech.subarray(0, 320))
  for (let i = 0; i < 20; i++) client.socket.send('no JSON')
  assert.equal((await client.closed).code, 4400)
  const errors = ofType(client.messages, 'error')
  assert.equal(errors.length, 39)
  assert.equal(errors[0]!.data.code, 'invalid_message')
  assert.equal(errors[0]!.error.status_code, 400)
})

/** What a session of that configuration receives, types without repeats. */
async function receivedWith(messages_config: Params): Promise<string[]> {
  const { id, url } = await openSession(server, {
    messages_config,
    realtime_processing: {
      named_entity_recognition: true,
      translation: true,
      translation_config: { target_languages: ['fr'] },
    },
    post_processing: { summarization: true },
  })
  const client = await connect(url)
  for (const chunk of chunksOf(speech, 3200)) client.send(chunk)
  client.sendJson({ type: 'audio_chunk', data: { chunk: '!' } })
  client.stop()
  await client.closed
  const kinds = client.messages.map((message) => {
    if ('error' in message && message.error) return `failed ${message.type}`
    if (message.type !== 'transcript') return message.type
    return message.data.is_final ? 'final' : 'partial'
  })
  const { body } = await call<Job>(server, `/v2/live/${id}`)
  assert.deepEqual(body.result.messages, client.texts)
  return [...new Set(kinds)].sort()
}

const selected: Record<string, string[]> = {
  receive_partial_transcripts: ['partial'],
  receive_final_transcripts: ['final'],
  receive_speech_events: ['speech_end', 'speech_start'],
  receive_pre_processing_events: [],
  receive_realtime_processing_events: ['named_entity_recognition'],
  receive_post_processing_events: [
    'post_final_transcript',
    'post_summarization',
    'post_transcript',
  ],
  receive_acknowledgments: ['audio_chunk', 'stop_recording'],
  receive_errors: ['failed audio_chunk', 'failed translation'],
  receive_lifecycle_events: ['end_recording', 'end_session', 'start_recording'],
}

for (const [flag, kinds] of Object.entries(selected)) {
  test(`${flag} selects its own messages and no others`, async () => {
    assert.deepEqual(await receivedWith({ ...none, [flag]: true }), kinds)
  })
}

test('with every flag off only the close is received', async () => {
  assert.deepEqual(await receivedWith(none), [])
})

test('messages only for the callback are in the result and not on the socket', async () => {
  const { client, job } = await run([speech], {
    messages_config: none,
    callback: true,
    callback_config: { url: 'https://example.com/hook', receive_speech_events: true },
  })
  assert.deepEqual(client.texts, [])
  const types = new Set(job.result.messages.map((text) => JSON.parse(text).type))
  assert.deepEqual([...types].sort(), [
    'end_recording',
    'end_session',
    'post_final_transcript',
    'post_transcript',
    'speech_end',
    'speech_start',
    'start_recording',
    'start_session',
    'transcript',
  ])
})

test('channels are recognized separately with their own ids, and billed each', async () => {
  const left = synthesizeAudio('..######..........')
  const right = synthesizeAudio('..........######..', { seed: 1 })
  const { client, job } = await run([interleave([left, right])], { channels: 2 })
  const finals = finalsOf(client.messages).map(({ data }) => [data.id, data.utterance.channel])
  assert.deepEqual(finals, [
    ['00_00000000', 0],
    ['01_00000000', 1],
  ])
  assert.equal(job.result.metadata.billing_time, 3.6)
  assert.equal(job.result.metadata.number_of_distinct_channels, 2)
})

for (const bit_depth of [8, 16, 24, 32] as const) {
  for (const sample_rate of [8000, 48_000]) {
    test(`${bit_depth} bits at ${sample_rate} Hz are recognized and stored unchanged`, async () => {
      const format = { sampleRate: sample_rate, bitDepth: bit_depth }
      const bytes = synthesizeAudio('...######......', format)
      const { id, client, job } = await run(chunksOf(bytes, 1001), { bit_depth, sample_rate })
      assert.equal(finalsOf(client.messages).length, 1)
      const { start } = finalsOf(client.messages)[0]!.data.utterance
      assert.ok(Math.abs(start - 0.3) < 0.06, `begins at ${start}`)
      assert.equal(job.result.metadata.audio_duration, 1.5)
      assert.deepEqual((await download(id)).subarray(44), bytes)
    })
  }
}

for (const [encoding, tag, quiet] of [
  ['wav/alaw', 6, 0xd5],
  ['wav/ulaw', 7, 0xff],
] as const) {
  test(`${encoding} uses one byte per sample and its own WAV format`, async () => {
    const bytes = Buffer.alloc(8000, quiet)
    for (let i = 2000; i < 6000; i++) bytes[i] = i % 40 < 20 ? 0x2a : 0xaa
    const { id, client, job } = await run([bytes], { encoding, sample_rate: 8000, bit_depth: 16 })
    assert.equal(finalsOf(client.messages).length, 1)
    assert.equal(job.result.metadata.audio_duration, 1)
    const file = await download(id)
    assert.deepEqual([file.readUInt16LE(20), file.readUInt16LE(34)], [tag, 8])
    assert.deepEqual(file.subarray(44), bytes)
  })
}

test('an utterance is split at the maximum duration without a speech event', async () => {
  const { client } = await run(chunksOf(synthesizeAudio(`${'#'.repeat(120)}.....`), 32_000))
  const finals = finalsOf(client.messages)
  assert.ok(finals.length >= 3)
  for (const { data } of finals) assert.ok(data.utterance.end - data.utterance.start <= 5)
  assert.equal(ofType(client.messages, 'speech_start').length, 1)
  assert.equal(ofType(client.messages, 'speech_end').length, 1)
})

test('sessions with silence or no audio are done with an empty transcript', async () => {
  const silent = await run([synthesizeAudio('..........')])
  assert.equal(silent.job.result.transcription.full_transcript, '')
  assert.deepEqual(silent.job.result.transcription.utterances, [])
  assert.deepEqual(silent.job.result.transcription.languages, [])
  assert.deepEqual(typesOf(silent.client.messages), [
    'stop_recording',
    'post_transcript',
    'post_final_transcript',
  ])
  const { id, code, job } = await run([])
  assert.deepEqual([code, job.status], [1000, 'done'])
  const { status, body } = await call<{ message: string }>(server, `/v2/live/${id}/file`)
  assert.deepEqual([status, body.message], [404, 'Cannot find the file: the job has no audio'])
})

test('an unavailable add-on reports it per utterance and in the result', async () => {
  const { client, job } = await run([speech], {
    realtime_processing: {
      translation: true,
      translation_config: { target_languages: ['fr', 'de'] },
    },
  })
  const responses = ofType(client.messages, 'translation')
  assert.equal(responses.length, 4)
  const { data, error } = responses[0]!
  assert.deepEqual([data, error?.status_code, error?.exception], [null, 501, 'NotConfigured'])
  assert.match(error!.message!, /into fr .*into de /)
  assert.equal((job.result.translation as { success: boolean }).success, false)
})

test('no time exceeds the rounded duration of the audio', async () => {
  for (const samples of [11_111, 11_100]) {
    const { client, job } = await run([synthesizeAudio('..#####').subarray(0, 2 * samples)])
    const { audio_duration: seconds = 0 } = job.result.metadata
    assert.ok(finalsOf(client.messages)[0]!.data.utterance.end <= seconds)
    assert.ok(ofType(client.messages, 'speech_end')[0]!.data.time <= seconds)
  }
})
