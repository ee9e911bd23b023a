import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { installTones } from '../../../../test/support/asr/many-languages.ts'
import { type ChatReply, startChatProvider } from '../../../../test/support/llm/chat-provider.ts'
import { readConfig } from '../../../config/config.ts'
import { checkLanguageServices } from './check-language-services.ts'

const { signal } = new AbortController()

async function check(t: TestContext, env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-doctor-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [id, languages] of [
    ['big', ['en', 'de', 'es']],
    ['big-turbo', ['en', 'de']],
    ['english', ['en']],
  ] as const) {
    if (env.whisper) await installTones(folder, { id, languages })
  }
  return checkLanguageServices(readConfig({ ...env, STENO_MODELS_DIR: folder }), signal)
}

async function checkModel(t: TestContext, reply: ChatReply, models?: object) {
  const provider = await startChatProvider(() => reply, { models: JSON.stringify(models ?? {}) })
  t.after(() => provider.close())
  const env = { STENO_LLM_URL: provider.url, STENO_LLM_MODEL: 'tiny', STENO_LLM_TIMEOUT_S: '60' }
  const [finding] = await check(t, env)
  return { ...finding!, calls: provider.calls.length }
}

test('without translators and language models doctor says how to set one up', async (t) => {
  const findings = await check(t)
  assert.deepEqual(
    findings.map(({ state }) => state),
    ['ok'],
  )
  assert.match(findings[0]!.text, /nothing is set up.*STENO_LLM_URL/)
})

test('doctor tests a language model with a request', async (t) => {
  const { state, text, calls } = await checkModel(t, 'Hello.')
  assert.deepEqual([state, calls], ['ok', 1])
  assert.match(text, /^language model: tiny at 127\.0\.0\.1:\d+ answers$/)
  const refused = await checkModel(t, 401)
  assert.equal(refused.state, 'fail')
  assert.match(refused.text, /refused the request with 401/)
  assert.match(refused.remedy!, /STENO_LLM_/)
})

test("doctor warns if the model's context is smaller than configured", async (t) => {
  const lists = [
    {
      data: [
        { id: 'other', max_model_len: 1024 },
        { id: 'tiny', max_model_len: 4096 },
      ],
    },
    { data: [{ id: '/models/tiny.gguf', meta: { n_ctx: 4096 } }] },
  ]
  for (const list of lists) {
    const { state, text, remedy } = await checkModel(t, 'Hello.', list)
    assert.equal(state, 'warn')
    assert.match(text, /takes 4096 tokens, fewer than the 8192 of the settings$/)
    assert.match(remedy!, /STENO_LLM_CONTEXT_TOKENS=4096/)
  }
  for (const n_ctx of [8192, null, 'many', 0]) {
    const { state } = await checkModel(t, 'Hello.', { data: [{ id: 'tiny', meta: { n_ctx } }] })
    assert.equal(state, 'ok')
  }
})

test('doctor names only the models that translate', async (t) => {
  const [finding] = await check(t, { whisper: 'yes' })
  assert.equal(finding!.text, 'translation of recordings into English: big')
})

test('doctor shows the pairs of Apertium, or why it does not run', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-apertium-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'apertium')
  await writeFile(file, '#!/bin/sh\necho spa-cat\necho eng-spa\n', { mode: 0o700 })
  const [finding] = await check(t, { STENO_APERTIUM: file })
  assert.deepEqual(finding, { state: 'ok', text: 'Apertium: en-es, es-ca' })
  await writeFile(file, '#!/bin/sh\n', { mode: 0o700 })
  assert.equal((await check(t, { STENO_APERTIUM: file }))[0]!.state, 'warn')
  const [missing] = await check(t, { STENO_APERTIUM: '/no/such/program' })
  assert.equal(missing!.state, 'fail')
  assert.match(missing!.text, /^Apertium /)
})
