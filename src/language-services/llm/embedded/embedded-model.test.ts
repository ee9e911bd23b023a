import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fakeLlamaEnvironment } from '../../../../test/support/llm/fake-llama.ts'
import { bareEnvironment } from '../../../audio/decoder/sandbox/bare-environment.ts'
import type { ChatRequest } from '../chat-client.ts'
import { createEmbeddedModel } from './embedded-model.ts'

function open(
  t: TestContext,
  limits: { timeout: number; answerTimeout: number; cancelSeconds?: number },
) {
  const model = createEmbeddedModel({
    findFile: () => 'model.gguf',
    missingMessage: '',
    contextTokens: 2048,
    usesGpu: false,
    idleSeconds: 60,
    ...limits,
    env: { ...bareEnvironment(), ...fakeLlamaEnvironment },
  })
  t.after(() => model.close())
  return (user: string, signal = new AbortController().signal, more: Partial<ChatRequest> = {}) => {
    return model.complete({ system: '', user, maxTokens: 100, signal, ...more })
  }
}

test('a model that keeps writing may exceed the chunk timeout', async (t) => {
  const complete = open(t, { timeout: 4, answerTimeout: 60 })
  const { text, usage } = await complete('20x300')
  assert.equal(text.split(' ').length, 20)
  assert.deepEqual(usage, { requests: 1, prompt_tokens: 7, completion_tokens: 3 })
})

test('a model that stalls or never ends is stopped', async (t) => {
  const stalling = open(t, { timeout: 4, answerTimeout: 60 })
  const message = 'the language model wrote nothing for 4 s'
  await assert.rejects(stalling('2x1 and stall'), { message, status: 503 })
  const endless = open(t, { timeout: 4, answerTimeout: 5 })
  await assert.rejects(endless('1000x100'), { message: 'the language model took longer than 5 s' })
})

test('a canceled request leaves the model loaded', async (t) => {
  const complete = open(t, { timeout: 20, answerTimeout: 60 })
  const { text: first } = await complete('1x1')
  const leaving = new AbortController()
  const canceled = complete('1000x50', leaving.signal)
  const next = complete('1x1')
  // The first request was sent.
  await setImmediate()
  leaving.abort(new Error('left'))
  await assert.rejects(canceled, /left/)
  assert.equal((await next).text, first)
})

test('a canceled request that does not end is killed with its process', async (t) => {
  const complete = open(t, { timeout: 20, answerTimeout: 60, cancelSeconds: 1 })
  const { text: first } = await complete('1x1')
  const leaving = new AbortController()
  const canceled = complete('1000x50 deaf', leaving.signal)
  const next = complete('1x1')
  // The first request was sent.
  await setImmediate()
  leaving.abort(new Error('left'))
  await assert.rejects(canceled, /left/)
  assert.notEqual((await next).text, first)
})

test('a repeating model is stopped, and its answer cut', async (t) => {
  const complete = open(t, { timeout: 20, answerTimeout: 60 })
  const { text, isCut } = await complete('100000x0 loop')
  assert.match(text, /^\d+$/)
  assert.ok(isCut)
  // Equal texts in JSON may be meant, and the schema says how many there are.
  const schema = { name: 'x', schema: {} }
  const { text: json } = await complete('100x0 loop', undefined, { schema })
  assert.equal(json.split(' ').length, 100)
})

test('requests with the same key share the prompt cache', async (t) => {
  const complete = open(t, { timeout: 20, answerTimeout: 60 })
  const { signal } = new AbortController()
  const responses: string[] = []
  for (const key of ['one', 'one', 'two', undefined, undefined]) {
    const { text, usage } = await complete('0x0 held', signal, key ? { cacheKey: key } : {})
    responses.push(text)
    assert.equal(usage.prompt_tokens, 7)
  }
  assert.deepEqual(responses, ['computed', 'held', 'computed', 'computed', 'computed'])
})
