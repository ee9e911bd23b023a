import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type ClientSet, loadClient } from '../../scripts/tests/test-tools/test-clients.ts'
import { type ClientServer, SPOKEN } from './client-server.ts'

type Transcription = {
  text: string
  language: string
  durationInSeconds: number
  segments: { text: string; startSecond: number; endSecond: number }[]
}
type Transcribe = (options: object) => Promise<Transcription>
type Part = { type: string; text?: string; delta?: string }
type Model = { doStream(options: object): Promise<{ stream: AsyncIterable<Part> }> }
type Provider = { transcription(name?: string): Model }
type CreateProvider = (options: object) => Provider

/** The only address that the provider knows. */
const VENDOR = 'https://api.gladia.io'

/**
 * The `fetch` of docs/clients.md, which puts the address of the server in place of the vendor's.
 */
function fetchFrom(url: string): typeof fetch {
  return async (input, init) => {
    const text = typeof init?.body === 'string' && init.body.replaceAll(VENDOR, url)
    const target = String(input).replace(VENDOR, url)
    const response = await fetch(target, text ? { ...init, body: text } : init)
    return new Response((await response.text()).replaceAll(url, VENDOR), response)
  }
}

/** Vercel's AI SDK with its provider of the service: options, callbacks and errors. */
export async function checkGladiaProvider(server: ClientServer, set: ClientSet): Promise<void> {
  const transcribe = loadTranscribe(set)
  const { createGladia } = loadClient<{ createGladia: CreateProvider }>('@ai-sdk/gladia', set)
  const fetch = fetchFrom(server.url)
  const model = createGladia({ apiKey: server.key, fetch }).transcription()
  const audio = readFileSync(server.recording)
  const { text, language, durationInSeconds, segments } = await transcribe({
    model,
    audio,
    providerOptions: {
      gladia: {
        language: 'en',
        diarization: true,
        customVocabulary: true,
        customVocabularyConfig: { vocabulary: ['fellow Americans'] },
        callbackConfig: { url: `${server.receiver.url}/ai-sdk` },
        callback: true,
        customMetadata: { team: 'blue' },
      },
    },
  })
  assert.match(text, SPOKEN)
  assert.deepEqual([language, durationInSeconds], ['en', 4])
  assert.match(segments[0]!.text, SPOKEN)
  assert.ok(segments[0]!.endSecond > segments[0]!.startSecond)
  await server.receiver.until('/ai-sdk', 1)

  const badFile = { model, audio: readFileSync(server.badFile), maxRetries: 0 }
  await assert.rejects(transcribe(badFile), { statusCode: 415 })
  const wrong = createGladia({ apiKey: 'wrong', fetch }).transcription()
  await assert.rejects(transcribe({ model: wrong, audio, maxRetries: 0 }), { statusCode: 401 })
}

/** Vercel's AI SDK with its provider of OpenAI. */
export async function checkOpenAiProvider(server: ClientServer, set: ClientSet): Promise<void> {
  const transcribe = loadTranscribe(set)
  const { createOpenAI } = loadClient<{ createOpenAI: CreateProvider }>('@ai-sdk/openai', set)
  const openai = createOpenAI({ apiKey: server.key, baseURL: `${server.url}/v1` })
  const audio = readFileSync(server.recording)
  const result = await transcribe({ model: openai.transcription('whisper-1'), audio })
  assert.match(result.text, SPOKEN)
  assert.equal(result.durationInSeconds, 4)
  const badFile = { audio: readFileSync(server.badFile), maxRetries: 0 }
  const bad = transcribe({ model: openai.transcription('whisper-1'), ...badFile })
  await assert.rejects(bad, { statusCode: 400, message: /Cannot read the media/ })
}

/** Vercel's AI SDK with its provider of OpenAI: languages and keywords, and a stream of audio. */
export async function checkOpenAiHints(server: ClientServer, set: ClientSet): Promise<void> {
  const transcribe = loadTranscribe(set)
  const { createOpenAI } = loadClient<{ createOpenAI: CreateProvider }>('@ai-sdk/openai', set)
  const openai = createOpenAI({ apiKey: server.key, baseURL: `${server.url}/v1` })
  const { text, language } = await transcribe({
    model: openai.transcription('gpt-transcribe'),
    audio: readFileSync(server.recording),
    providerOptions: { openai: { languages: ['en', 'fr'], keywords: ['fellow Americans'] } },
  })
  assert.match(text, SPOKEN)
  assert.equal(language, 'en')
  const pcm = readFileSync(server.pcm24File)
  const { stream } = await openai.transcription('gpt-live-transcribe').doStream({
    audio: new Blob([pcm]).stream(),
    inputAudioFormat: { type: 'audio/pcm', rate: 24_000 },
    providerOptions: { openai: { language: 'en', streaming: { delay: 'low' } } },
  })
  const parts = await Array.fromAsync(stream)
  assert.ok(parts.some(({ type }) => type === 'transcript-delta'))
  assert.match(parts.find(({ type }) => type === 'transcript-final')!.text!, SPOKEN)
  assert.equal(parts.at(-1)!.type, 'finish')
}

function loadTranscribe(set: ClientSet): Transcribe {
  return loadClient<{ experimental_transcribe: Transcribe }>('ai', set).experimental_transcribe
}
