import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createLog } from '../../observability/log.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { Params } from '../add-ons/add-on.ts'
import { ResultBuilder } from './result-builder.ts'
import type { AddOnError } from './steps/envelope.ts'
import type { ServiceRequests, ServiceResponses } from './steps/run-service-add-on.ts'

const { signal } = new AbortController()
const options = { account: 'acme', signal }
const format = 'string'
/** The add-ons of the fixture. */
const names = ['translation', 'audio_to_llm']

function say(...texts: string[]): Transcript {
  const utterances = texts.map((text, i) => {
    const words = [{ text, start: i, end: i + 1, confidence: 0.9 }]
    return { channel: 0, language: 'en', words }
  })
  return { utterances }
}

function openBuilder(t: TestContext, timeout = 30) {
  const entry = new URL('../../../test/support/text/service-add-ons-thread.ts', import.meta.url)
  const builder = new ResultBuilder({ log: createLog('silent'), entry, timeout })
  t.after(() => builder.close())
  return {
    build(transcript: Transcript, params: Record<string, unknown>, served = names) {
      const about = { audioDuration: 3, distinctChannels: 1, transcriptionTime: 1 }
      return builder.build(transcript, { ...about, params, served }, options)
    },
    async merge(result: string, params: Params, ...serviceResponses: ServiceResponses[]) {
      const text = await builder.merge({ result, params, format, serviceResponses }, options)
      return JSON.parse(text)
    },
    async retry(
      result: string,
      params: Params,
      more: { served?: string[]; serviceResponses?: ServiceResponses } = {},
    ) {
      const retry = { name: 'translation', result, params: JSON.stringify(params), format, ...more }
      return builder.retry({ ...retry, format }, options)
    },
  }
}

function requestsOf(prepared: ServiceRequests | undefined) {
  return prepared && 'requests' in prepared ? prepared.requests : prepared?.error.exception
}

const hi = { service: 'translation', model: 'tiny', text: 'Hi', others: ['duration'] }

test('requests are prepared, and their answers become the add-on result', async (t) => {
  const { build, merge } = openBuilder(t)
  const params = { sentences: true, translation: true }
  const { text, prepared } = await build(say('Hi', 'Bye'), params)
  assert.deepEqual(prepared.map(requestsOf), [[hi, { ...hi, text: 'Bye' }]])
  const before = JSON.parse(text)
  const serviceResponses = { name: 'translation', seconds: 2, responses: ['Salut', 'Adieu'] }
  const { translation, ...others } = await merge(text, params, serviceResponses)
  const { translation: _, ...same } = before
  assert.deepEqual(others, same)
  const { exec_time, ...envelope } = translation
  assert.ok(exec_time >= 2 && exec_time < 32, exec_time)
  const results = { responses: ['Salut', 'Adieu'], utterances: 2, format }
  assert.deepEqual(envelope, { success: true, is_empty: false, error: null, results })
})

test('without services nothing is prepared', async (t) => {
  const { build, retry } = openBuilder(t)
  const params = { translation: true }
  const { text, prepared } = await build(say('Hi'), params, [])
  assert.deepEqual(prepared, [])
  const plain = new ResultBuilder({ log: createLog('silent') })
  t.after(() => plain.close())
  const about = { audioDuration: 3, distinctChannels: 1, transcriptionTime: 1, params }
  assert.equal(text, (await plain.build(say('Hi'), about, options)).text)
  assert.equal(JSON.parse(text).translation.error.exception, 'NotConfigured')
  const retried = await retry(text, params)
  assert.match((retried as { response: string }).response, /NotConfigured/)
})

test('prepared requests contain only redacted words', async (t) => {
  const { build } = openBuilder(t)
  const params = { pii_redaction: true, translation: true }
  const { text, prepared } = await build(say('Mail zofia@posteo.de'), params)
  assert.ok(!text.includes('zofia'))
  const [request] = requestsOf(prepared[0]) as [typeof hi]
  assert.ok(!request.text.includes('zofia'), request.text)
  assert.match(request.text, /Mail/)
  assert.deepEqual(request.others, ['duration'])
})

test('an unsupported language prepares no request and reports the reason', async (t) => {
  const { build, merge } = openBuilder(t)
  const transcript = say('Salut')
  transcript.utterances[0]!.language = 'fr'
  const params = { translation: true }
  const { text, prepared } = await build(transcript, params)
  assert.equal(requestsOf(prepared[0]), 'LanguageNotSupported')
  const { error } = prepared[0] as ServiceRequests & { error: AddOnError }
  const { translation } = await merge(text, params, { name: 'translation', seconds: 0.5, error })
  assert.deepEqual([translation.success, translation.error], [false, error])
  assert.equal(translation.exec_time, 0.5)
})

test('a step that hangs, crashes or rejects answers fails alone', async (t) => {
  const { build, merge } = openBuilder(t, 1)
  const both = { translation: true, audio_to_llm: true }
  const hanging = await build(say('Hi'), { ...both, fault: 'prepare hangs' })
  assert.deepEqual(
    hanging.prepared.map((one) => ('error' in one ? one.error.exception : one.name)),
    ['AddonTimeout', 'audio_to_llm'],
  )
  const { text } = await build(say('Hi'), both)
  const serviceResponses = { name: 'translation', seconds: 0, responses: ['Salut'] }
  const crashing = { ...both, fault: 'merge crashes' }
  const { translation } = await merge(text, crashing, serviceResponses)
  assert.equal(translation.error.exception, 'AddonFailed')
  const wrong = await merge(text, both, { ...serviceResponses, responses: [1] })
  assert.equal(wrong.translation.error.message, 'the answer is no text')
})

test('a retry returns requests, then builds the add-on from their answers', async (t) => {
  const { build, retry } = openBuilder(t)
  const params = { translation: true }
  const { text } = await build(say('Hi'), params)
  const first = await retry(text, params, { served: names })
  assert.ok(first.outcome === 'prepared')
  assert.deepEqual(requestsOf(first.prepared), [hi])
  const serviceResponses = { name: 'translation', seconds: 1, responses: ['Salut'] }
  const second = await retry(text, params, { served: names, serviceResponses })
  assert.ok(second.outcome === 'made')
  assert.deepEqual(JSON.parse(second.response).results.responses, ['Salut'])
  assert.deepEqual(JSON.parse(second.result).translation, JSON.parse(second.response))
  const third = await retry(second.result, params, { served: names })
  assert.deepEqual(third, { outcome: 'succeeded' })
})
