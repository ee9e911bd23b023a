import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { parseProviderResponse } from '../../../src/asr/engines/remote/provider-response.ts'
import { createRemoteRecognizer } from '../../../src/asr/engines/remote/remote-recognizer.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import { readResponseExcerpt } from '../../../src/delivery/http/response-excerpt.ts'
import { AppError } from '../../../src/errors.ts'
import { createChatClient } from '../../../src/language-services/llm/chat-client.ts'
import { moderateSentences } from '../../../src/language-services/llm/moderate.ts'
import {
  extractData,
  runPrompt,
  summarizeTranscript,
} from '../../../src/language-services/llm/tasks.ts'
import { translateTexts } from '../../../src/language-services/llm/translate.ts'
import { unifyNames } from '../../../src/language-services/llm/unify-names.ts'
import { ServiceError } from '../../../src/language-services/service-error.ts'
import { parseRetryAfter } from '../../../src/net/retry-after.ts'
import type { ServiceClient } from '../../../src/net/service-client.ts'
import { fuzzBytes } from '../../guided.ts'

const { signal } = new AbortController()
const SECONDS = 10

const texts = (...values: unknown[]) => values.map((value) => Buffer.from(JSON.stringify(value)))
const completion = (content: string, finish_reason = 'stop') => ({
  choices: [{ message: { role: 'assistant', content }, finish_reason }],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
})
const streamed = (...texts: string[]) => {
  const events = texts.map((content) => ({ choices: [{ delta: { content } }] }))
  const last = { choices: [{ delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 3 } }
  const lines = [...events, last].map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return `${lines.join('')}data: [DONE]\n\n`
}
const word = { word: 'hello', start: 0.5, end: 0.9, probability: 0.7 }
const segment = { text: 'hello', start: 0, end: 2, avg_logprob: -0.3, no_speech_prob: 0.1 }

const seeds = {
  chat: texts(
    completion('```json\n{"order number": ["17"], "name": []}\n```'),
    completion('- one\n- two'),
    completion('{"flags": [{"sentence": 1, "category": "hate"}]}'),
    completion('{"changes": [{"from": "Jon", "to": "John"}]}'),
    completion('["Bonjour 17", "[NAME_1]"]'),
    completion('<think>so</think>{"1": "Bonjour 17", "2": "[NAME_1]"}', 'length'),
  ).concat(
    Buffer.from(streamed('["Bonjour 17", ', '"[NAME_1]"]')),
    Buffer.from(`: wait\r\nevent: error\r\n${streamed('- one')}`),
  ),
  speech: texts(
    { text: 'hello', language: 'english', words: [word] },
    { text: 'hello', segments: [{ ...segment, words: [word] }], language_probability: 0.9 },
    { text: 'hello there', segments: [segment, { ...segment, start: 2, end: 3 }] },
    { text: 'hello' },
  ),
  refusal: texts({ error: { message: 'response_format verbose_json is unknown key-17' } }),
  excerpt: [Buffer.from('no \0 \u20ac '.repeat(200)), Buffer.from('thanks')],
  retryAfter: ['120', 'Wed, 21 Oct 2026 07:28:00 GMT'].map((text) => Buffer.from(text)),
}

/** A provider that always responds with `text`. */
function answering(text: string, status = 200): ServiceClient {
  return {
    async post({ stream }) {
      const reading = status === 200 && stream?.read(text)
      return typeof reading === 'object' ? reading : { status, text }
    },
    async close() {},
  }
}

async function chat(text: string): Promise<void> {
  const options = {
    client: answering(text),
    model: 'm',
    contextTokens: 2000,
    timeout: 1,
    answerTimeout: 1,
  }
  const asking = {
    model: createChatClient(options),
    signal,
    memoize: <T>(_request: object, make: () => Promise<T>) => make(),
  }
  const transcript = 'I ordered 17 of them. My name is [NAME_1].'
  const classes = ['order number', 'constructor']
  const texts = ['I ordered 17', 'I am [NAME_1]']
  const categories = { hate: 'attacks on groups of people' }
  const names = ['John', 'Jon'].map((spelling) => ({ spelling, count: 1, said: 'I am' }))
  const task = { target: 'fr', texts, context: '', before: [], informal: false }
  for (const ask of [
    async () =>
      assert.equal(typeof (await runPrompt({ prompt: 'Why?', transcript }, asking)).text, 'string'),
    async () => {
      const { text } = await summarizeTranscript({ style: 'bullet_points', transcript }, asking)
      assert.ok(text.split('\n').length <= 10)
    },
    async () => {
      const { values } = await extractData({ classes, transcript }, asking)
      assert.deepEqual(Object.keys(values), classes)
      assert.ok(
        Object.values(values)
          .flat()
          .every((value) => typeof value === 'string'),
      )
    },
    async () => {
      const { texts: translated } = await translateTexts(task, asking)
      assert.equal(translated.length, 2)
      assert.ok(translated[1]!.includes('[NAME_1]'), translated[1])
    },
    async () => {
      const { flags } = await moderateSentences({ sentences: texts, categories }, asking)
      assert.ok(flags.every(({ sentence, category }) => texts[sentence] && category === 'hate'))
    },
    async () => {
      const { changes } = await unifyNames({ groups: [names] }, asking)
      const has = (name: string) => names.some(({ spelling }) => spelling === name)
      assert.ok(changes.every(({ from, to }) => has(from) && has(to) && from !== to))
    },
  ]) {
    try {
      await ask()
    } catch (error) {
      assert.ok(error instanceof ServiceError, (error as Error).stack)
    }
  }
}

/** Words in order, apart, inside the audio, whatever the server said. */
function speech(text: string): void {
  const response = parseProviderResponse(text, SECONDS)
  if (!response) return
  let last = 0
  for (const { start, end, confidence, text } of response.words) {
    assert.ok(start >= last && end >= start && end <= SECONDS, `${start} to ${end} after ${last}`)
    assert.ok(confidence >= 0 && confidence <= 1 && text.trim() !== '')
    last = end
  }
}

/** Users see the refusals of a server, but never the key. */
async function refusal(text: string, status: number): Promise<void> {
  const apiKey = 'key-17'
  const recognizer = createRemoteRecognizer({
    client: answering(text, status),
    model: 'm',
    languages: ['en'],
    timeout: 1,
    concurrency: 1,
    preferredBy: [],
    apiKey,
  })
  const settings = { language: 'en', languages: ['en'], vocabulary: [] }
  const utterance = { path: '/dev/zero', segment: { start: 0, end: SAMPLE_RATE } }
  try {
    await recognizer.recognizeFinal(utterance, settings, { signal, use: 'live' })
  } catch (error) {
    assert.ok(error instanceof AppError, (error as Error).stack)
    assert.ok(!error.message.includes(apiKey) && error.message.length < 500, error.message)
  }
}

async function excerpt(bytes: Buffer): Promise<void> {
  const text = await readResponseExcerpt(Readable.from([bytes]), { timeout: 1000 })
  assert.ok(text.length <= 1024 && !text.includes('\0'))
}

await fuzzBytes('answers', seeds, (bytes, kind) => {
  const text = bytes.toString()
  if (kind === 'chat') return chat(text)
  if (kind === 'speech') return speech(text)
  if (kind === 'refusal') return refusal(text, bytes.length % 2 === 0 ? 400 : 200)
  if (kind === 'excerpt') return excerpt(bytes)
  const wait = parseRetryAfter(text, { now: 1_790_000_000_000 })
  assert.ok(wait === undefined || (wait >= 1000 && wait <= 3_600_000))
})
