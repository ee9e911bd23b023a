import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fakeLlamaEnvironment } from '../../../test/support/fake-llama.ts'
import { bareEnvironment } from '../../audio/decoder/bare-environment.ts'
import { createEmbeddedModel } from './embedded-model.ts'

function open(t: TestContext, limits: { timeout: number; answerTimeout: number }) {
  const model = createEmbeddedModel({
    ...{ findFile: () => 'model.gguf', missing: '', contextTokens: 2048, usesGpu: false },
    ...{ idleSeconds: 60, ...limits, env: { ...bareEnvironment(), ...fakeLlamaEnvironment } },
  })
  t.after(() => model.close())
  const { signal } = new AbortController()
  return (user: string) => model.complete({ system: '', user, maxTokens: 100, signal })
}

test('a model that keeps writing may take longer than the wait for its next piece', async (t) => {
  const complete = open(t, { timeout: 4, answerTimeout: 60 })
  const { text, usage } = await complete('20x300')
  assert.equal(text.split(' ').length, 20)
  assert.deepEqual(usage, { requests: 1, prompt_tokens: 7, completion_tokens: 3 })
})

test('a model that stops writing, or never stops, is ended', async (t) => {
  const stalling = open(t, { timeout: 4, answerTimeout: 60 })
  const message = 'the language model wrote nothing for 4 s'
  await assert.rejects(stalling('2x1 and stall'), { message, status: 503 })
  const endless = open(t, { timeout: 4, answerTimeout: 5 })
  await assert.rejects(endless('1000x100'), { message: 'the language model took longer than 5 s' })
})
