/** The tokens that language models may take for an account, over the real server. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { startChatProvider } from '../../support/llm/chat-provider.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer } from '../../support/server/start-server.ts'

type Wrapper<T> = {
  success: boolean
  error: { status_code: number; exception: string; message: string } | null
  results: T
}
type Job = {
  result: { summarization: Wrapper<string>; audio_to_llm: Wrapper<Wrapper<object>[]> }
}
type Report = { quotas: { tokens: { limit: number | null; used: number; resets_at: string } } }

/** Room for the estimate of one request (some 120 tokens), not for that beside a response (110). */
const LIMIT = 180

async function start(t: TestContext) {
  const provider = await startChatProvider(() => 'a summary')
  const server = await startServer({
    speech: createFakeSpeechEngine('hello world'),
    env: {
      STENO_LLM_URL: provider.url,
      STENO_LLM_MODEL: 'tiny',
      STENO_ACCOUNT_MAX_TOKENS_PER_MONTH: String(LIMIT),
    },
  })
  t.after(async () => {
    await server.close()
    provider.close()
  })
  async function transcribe(params: object, key = server.key) {
    const audio_url = await upload({ ...server, key }, createToneWav(3))
    const json = { audio_url, ...params }
    const { body } = await call<{ id: string }>({ ...server, key }, '/v2/pre-recorded', { json })
    await server.app.jobs.idle()
    const job = await call<Job>({ ...server, key }, `/v2/pre-recorded/${body.id}`)
    return { id: body.id, ...job.body.result }
  }
  const quota = async () => (await call<Report>(server, '/v2/usage')).body.quotas.tokens
  return { server, provider, transcribe, quota }
}

test('over the token quota an add-on fails without a provider request', async (t) => {
  const { server, provider, transcribe, quota } = await start(t)
  assert.equal((await transcribe({ summarization: true })).summarization.success, true)
  const { limit, used, resets_at } = await quota()
  assert.deepEqual([limit, used], [LIMIT, 110])
  assert.match(resets_at, /^\d{4}-\d\d-01T00:00:00\.000Z$/)
  const { id, summarization } = await transcribe({ summarization: true })
  const { success, error } = summarization
  assert.deepEqual([success, error!.status_code, error!.exception], [false, 402, 'QuotaExceeded'])
  assert.match(
    error!.message,
    /exceed its 180 tokens of this month: it used 110, 0 are in progress \(STENO_ACCOUNT_MAX_TOKENS_PER_MONTH\); the next month begins at /,
  )
  const path = `/v2/pre-recorded/${id}/addons/summarization/retry`
  const again = await call<Wrapper<string>>(server, path, { method: 'POST' })
  assert.equal(again.body.error!.status_code, 402)
  assert.equal(provider.calls.length, 1)
  assert.equal((await transcribe({ summarization: true }, OTHER_KEY)).summarization.success, true)
})

test('of concurrent requests only those within the token quota are sent', async (t) => {
  const { provider, transcribe, quota } = await start(t)
  const prompts = { prompts: ['Who?', 'What?', 'Why?', 'When?'] }
  const { audio_to_llm } = await transcribe({ audio_to_llm: true, audio_to_llm_config: prompts })
  assert.deepEqual(
    audio_to_llm.results.map(({ error }) => error?.exception),
    [undefined, 'QuotaExceeded', 'QuotaExceeded', 'QuotaExceeded'],
  )
  assert.deepEqual([provider.calls.length, (await quota()).used], [1, 110])
})
