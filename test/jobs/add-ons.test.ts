import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../support/audio/recordings.ts'
import { call, upload } from '../support/net/http-client.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

type Envelope = { success: boolean; is_empty: boolean; error: unknown; results: unknown }
type Result = Record<string, Envelope> & {
  transcription: {
    full_transcript: string
    sentences?: Envelope[]
    subtitles?: { format: string; subtitles: string }[]
  }
}

const SAID = 'I love this, mister Smith. My name is Lena. Where is the acme report? it is terrible'

let server: TestServer
let audioUrl: string
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine(SAID) })
  audioUrl = await upload(server, createToneWav(4))
})
after(() => server.close())

/** The result of a job that asks for these. */
async function resultOf(fields: Record<string, unknown>): Promise<Result> {
  const json = { audio_url: audioUrl, ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  await server.app.jobs.idle()
  return (await call<{ result: Result }>(server, `/v2/pre-recorded/${body.id}`)).body.result
}

test('custom spellings apply to the transcript and all add-ons', async () => {
  const { transcription, sentences } = await resultOf({
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { ACME: ['acme'], Mr: ['mister'] } },
    punctuation_enhanced: true,
    sentences: true,
  })
  const texts = [
    ...['I love this, Mr Smith.', 'My name is Lena.'],
    ...['Where is the ACME report?', 'It is terrible'],
  ]
  assert.equal(transcription.full_transcript, texts.join(' '))
  assert.deepEqual(sentences!.results, texts)
  assert.deepEqual(transcription.sentences, [sentences])
})

test('the vocabulary is applied before the custom spelling', async () => {
  const { transcription } = await resultOf({
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: [{ value: 'Akmee', pronunciations: ['acme'] }] },
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { AKMEE: ['akmee'] } },
  })
  assert.match(transcription.full_transcript, /Where is the AKMEE report/)
})

test('entities have their types and times', async () => {
  const { named_entity_recognition } = await resultOf({ named_entity_recognition: true })
  const entities = named_entity_recognition!.results as Record<string, unknown>[]
  assert.deepEqual(
    entities.map(({ entity_type, text }) => [entity_type, text]),
    [
      ['NAME_FAMILY', 'Smith'],
      ['NAME_GIVEN', 'Lena'],
    ],
  )
  assert.ok(Number(entities[0]!.end) > Number(entities[0]!.start))
})

test('moderation and name consistency return their results as text', async () => {
  const { moderation, name_consistency } = await resultOf({
    moderation: true,
    name_consistency: true,
  })
  assert.equal((JSON.parse(String(moderation!.results)) as { flagged: boolean }).flagged, false)
  assert.deepEqual(JSON.parse(String(name_consistency!.results)), [])
})

test('subtitles have the requested formats and rows', async () => {
  const { transcription } = await resultOf({
    subtitles: true,
    subtitles_config: { formats: ['vtt', 'srt'], maximum_characters_per_row: 20 },
  })
  const [vtt, srt] = transcription.subtitles!
  assert.deepEqual([vtt!.format, srt!.format], ['vtt', 'srt'])
  assert.ok(vtt!.subtitles.startsWith('WEBVTT\n\n00:00:0'))
  const rows = vtt!.subtitles.split('\n').filter((row) => /[a-z]/.test(row))
  assert.ok(rows.length > 2 && rows.every((row) => row.length <= 20), rows.join('|'))
})

test('sentiment is a JSON string with an item per sentence', async () => {
  const { sentiment_analysis } = await resultOf({ sentiment_analysis: true })
  const items = JSON.parse(String(sentiment_analysis!.results)) as { sentiment: string }[]
  const sentiments = items.map(({ sentiment }) => sentiment)
  assert.deepEqual(sentiments, ['positive', 'neutral', 'neutral', 'negative'])
})

test('summary and paragraphs consist of words of the transcript', async () => {
  const { summarization, display_mode } = await resultOf({
    summarization: true,
    summarization_config: { type: 'bullet_points' },
    display_mode: true,
  })
  assert.match(String(summarization!.results), /^- I love this/)
  assert.deepEqual(display_mode!.results, [SAID.replace('? it', '? It')])
})

test('an add-on without an engine reports it, and others work', async () => {
  const { audio_to_llm, sentences } = await resultOf({
    audio_to_llm: true,
    audio_to_llm_config: { prompts: ['Who called?'] },
    sentences: true,
  })
  assert.deepEqual([audio_to_llm!.success, sentences!.success], [false, true])
  assert.equal((audio_to_llm!.error as { exception: string }).exception, 'NotConfigured')
})

test('a recording without speech has empty results of all requested add-ons', async () => {
  const silent = await startServer({ speech: createFakeSpeechEngine('') })
  try {
    const json = {
      audio_url: await upload(silent, createToneWav(1)),
      sentences: true,
      subtitles: true,
      sentiment_analysis: true,
      summarization: true,
    }
    const { body } = await call<{ id: string }>(silent, '/v2/pre-recorded', { json })
    await silent.app.jobs.idle()
    const path = `/v2/pre-recorded/${body.id}`
    const { result } = (await call<{ result: Result }>(silent, path)).body
    for (const [name, empty] of Object.entries({
      sentences: [],
      sentiment_analysis: '[]',
      summarization: '',
    })) {
      const { success, is_empty, results } = result[name]!
      assert.deepEqual([success, is_empty, results], [true, true, empty], name)
    }
    assert.deepEqual(result.transcription.subtitles, [{ format: 'srt', subtitles: '' }])
  } finally {
    await silent.close()
  }
})
