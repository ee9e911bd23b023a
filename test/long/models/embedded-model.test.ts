import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findTestWeights } from '../../../scripts/tests/test-tools/test-weights.ts'
import { bareEnvironment } from '../../../src/audio/decoder/sandbox/bare-environment.ts'
import type { AskOptions } from '../../../src/language-services/llm/ask.ts'
import {
  createEmbeddedModel,
  type EmbeddedModelOptions,
} from '../../../src/language-services/llm/embedded/embedded-model.ts'
import { extractData, runPrompt } from '../../../src/language-services/llm/tasks.ts'
import { unifyNames } from '../../../src/language-services/llm/unify-names.ts'

const weights = findTestWeights('smollm2-135m')
const hasPackage = isThere('node-llama-cpp')
const skip = weights.missing ?? (hasPackage ? false : 'the package node-llama-cpp is not installed')
const file = join(weights.folder ?? '', 'model.gguf')

function isThere(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

function open(t: TestContext, changes: Partial<EmbeddedModelOptions> = {}) {
  const model = createEmbeddedModel({
    findFile: () => file,
    missingMessage: 'it is missing',
    contextTokens: 2048,
    usesGpu: false,
    timeout: 300,
    answerTimeout: 600,
    idleSeconds: 60,
    env: bareEnvironment(),
    ...changes,
  })
  t.after(() => model.close())
  const { signal } = new AbortController()
  const options: AskOptions = { model, memoize: (_part, make) => make(), signal }
  return options
}

const transcript =
  'Hello, my name is Tom Miller. My order number 4711 did not arrive.\nI am sorry to hear that.'

test('a small embedded model answers a prompt and fills a schema', { skip }, async (t) => {
  const options = open(t)
  const question = { prompt: 'What is the order number?', transcript }
  const { text, usage } = await runPrompt(question, options)
  assert.match(text, /4711/)
  assert.equal(usage.requests, 1)
  assert.ok(usage.prompt_tokens > 50 && usage.completion_tokens > 2, JSON.stringify(usage))
  const classes = ['order number', 'customer name']
  const { values } = await extractData({ classes, transcript }, options)
  assert.ok(values['order number']!.some((value) => value.includes('4711')))
})

test('a small embedded model answers the same from its prompt cache', { skip }, async (t) => {
  const { model, signal } = open(t)
  const user = `<transcript>\n${transcript}\n</transcript>\n\nWhat is the order number?`
  const request = { system: 'You work on transcripts.', user, maxTokens: 20, signal }
  const responses = []
  for (const key of [undefined, 'one', 'one', 'two']) {
    responses.push(await model.complete({ ...request, ...(key && { cacheKey: key }) }))
  }
  const [first] = responses
  assert.match(first!.text, /4711/)
  for (const response of responses) assert.deepEqual(response, first)
})

test('a small embedded model unifies names only to given spellings', { skip }, async (t) => {
  const groups = ['Meyer Maier', 'Kowalczyk Kowalchek'].map((names) => {
    return names.split(' ').map((spelling, i) => {
      return { spelling, count: 3 - i, said: `We met ${spelling} again.` }
    })
  })
  const { changes, usage } = await unifyNames({ groups }, open(t))
  assert.ok(usage.requests >= 1 && usage.completion_tokens > 0)
  for (const { from, to } of changes) {
    const group = groups.find((names) => names.some(({ spelling }) => spelling === from))
    assert.ok(from !== to && group?.some(({ spelling }) => spelling === to), `${from} ${to}`)
  }
})

test('requests are processed one at a time, and an aborted one does not affect others', {
  skip,
}, async (t) => {
  const { model, signal } = open(t)
  const leaving = new AbortController()
  const request = { system: 'Be brief.', user: 'Say hello.', maxTokens: 5 }
  const aborted = model.complete({ ...request, signal: leaving.signal })
  const other = model.complete({ ...request, signal })
  leaving.abort(new Error('left'))
  await assert.rejects(aborted)
  const { text, usage } = await other
  assert.ok(text.length > 0 && usage.completion_tokens <= 5, text)
})

test('an invalid model file fails the request with its reason', { skip }, async (t) => {
  const { model, signal } = open(t, { findFile: () => import.meta.filename })
  const request = { system: 'a', user: 'b', maxTokens: 10, signal }
  await assert.rejects(model.complete(request), { name: 'Error', message: /the language model/ })
})

test('a missing model is reported', async (t) => {
  const { model, signal } = open(t, { findFile: () => undefined })
  const request = { system: 'a', user: 'b', maxTokens: 10, signal }
  await assert.rejects(model.complete(request), { message: 'it is missing', status: 501 })
})

test('without node-llama-cpp the error says how to install it', { skip: hasPackage }, async (t) => {
  const { model, signal } = open(t)
  const request = { system: 'a', user: 'b', maxTokens: 10, signal }
  await assert.rejects(model.complete(request), /npm install --no-save node-llama-cpp/)
})
