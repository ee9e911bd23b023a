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
type Provider = { transcription(name?: string): object }
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

function loadTranscribe(set: ClientSet): Transcribe {
  return loadClient<{ experimental_transcribe: Transcribe }>('ai', set).experimental_transcribe
}
