import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { openChatModel } from '../../../src/app/language-model.ts'
import { checkLanguageServices } from '../../../src/cli/operations/doctor/check-language-services.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { ChatModel } from '../../../src/language-services/llm/chat-client.ts'
import { createLog } from '../../../src/observability/log.ts'
import {
  type LlamaServer,
  noLlamaServer,
  startLlamaServer,
} from '../../support/llm/llama-server.ts'

const CONTEXT = 2048
const skip = noLlamaServer
const { signal } = new AbortController()
const asked = { system: 'Answer briefly.', user: 'Say hello.', maxTokens: 8, signal }

let server: LlamaServer
let model: ChatModel

function settings(more: Record<string, string> = {}) {
  return readConfig({
    STENO_LLM_URL: server.url,
    STENO_LLM_MODEL: 'small',
    STENO_LLM_API_KEY: server.apiKey,
    STENO_LLM_TIMEOUT_S: '600',
    STENO_LLM_CONTEXT_TOKENS: `${CONTEXT}`,
    ...more,
  })
}

function open(more?: Record<string, string>): ChatModel {
  const { llm, models } = settings(more)
  return openChatModel({ llm: llm!, models }, createLog('silent'))
}

before(async () => {
  if (skip) return
  server = await startLlamaServer(CONTEXT)
  model = open()
})

after(async () => {
  await model?.close()
  server?.process.kill('SIGKILL')
})

test('llama.cpp streams an answer, counts its tokens and cuts it', { skip }, async () => {
  const { text, usage, isCut } = await model.complete({ ...asked, user: 'Tell a long story.' })
  assert.ok(text.length > 8, text)
  assert.equal(isCut, true)
  assert.deepEqual([usage.requests, usage.completion_tokens], [1, 8])
  assert.ok(usage.prompt_tokens > 10 && usage.prompt_tokens < 40, `${usage.prompt_tokens}`)
})

test('llama.cpp constrains an answer to a schema', { skip }, async () => {
  const color = { type: 'string', enum: ['red', 'green'] }
  const schema = { type: 'object', properties: { color }, required: ['color'] }
  const user = 'Tell a long story.'
  const bound = { maxTokens: 60, schema: { name: 'color', schema } }
  const response = await model.complete({ ...asked, ...bound, user })
  assert.match((JSON.parse(response.text) as { color: string }).color, /^(red|green)$/)
  assert.equal(response.usage.requests, 1)
})

test('an aborted request frees llama.cpp for the next one', { skip }, async () => {
  const leaving = new AbortController()
  const left = model.complete({ ...asked, maxTokens: 1500, signal: leaving.signal })
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
  assert.ok((await model.complete(asked)).text.length > 0)
})

test('a text that is too long for llama.cpp is reported', { skip }, async () => {
  const user = 'word '.repeat(2 * CONTEXT)
  const message = 'the text is too long for the context of the language model'
  await assert.rejects(model.complete({ ...asked, user }), { message, status: 413 })
})

test('llama.cpp rejects a wrong key', { skip }, async (t) => {
  const withWrongKey = open({ STENO_LLM_API_KEY: 'wrong' })
  t.after(() => withWrongKey.close())
  await assert.rejects(withWrongKey.complete(asked), /refused the request with 401/)
})

test('doctor compares the context of llama.cpp with the settings', { skip }, async () => {
  const [fitting] = await checkLanguageServices(settings(), signal)
  assert.equal(fitting!.state, 'ok')
  const larger = settings({ STENO_LLM_CONTEXT_TOKENS: `${4 * CONTEXT}` })
  const [finding] = await checkLanguageServices(larger, signal)
  assert.equal(finding!.state, 'warn')
  assert.match(finding!.text, /takes 2048 tokens, fewer than the 8192/)
})

test('an answer interrupted by the end of the server fails', { skip }, async () => {
  const exited = once(server.process, 'exit')
  const response = model.complete({ ...asked, user: 'Tell a long story.', maxTokens: 1500 })
  const failed = assert.rejects(response, { status: 503, message: /the language model / })
  server.process.kill('SIGKILL')
  await exited
  await failed
})
