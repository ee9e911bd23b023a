/** What accounts used, and their quotas, over the real server. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sha256 } from '../../../src/api/auth/check-key.ts'
import { followClock, wallNow } from '../../../src/clock.ts'
import { insertKey } from '../../../src/storage/accounts/keys.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { startChatProvider } from '../../support/llm/chat-provider.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

const QUOTA = 12
/** In the middle of a day and of a month: neither ends during the test. */
const NOON = Date.parse('2026-06-15T12:00Z')
const TODAY = '2026-06-15'

type Sums = {
  jobs: number
  failed_jobs: number
  audio_duration: number
  billing_time: number
  add_ons: Record<string, number>
  usage: { requests: number; prompt_tokens: number; completion_tokens: number }
}
type Item = Sums & { day?: string; key?: string | null; kind?: string; account?: string }
type Month = { limit: number; used: number; in_progress: number; resets_at: string }
type Report = { items: Item[]; total: Sums; quotas: { month: Month } | null }

/** Sets the clock of the server; a response that took too long would not be believed. */
async function setClock(now: number): Promise<void> {
  while (Math.abs(wallNow() - now) > 60_000) await followClock(async () => now)
}

let server: TestServer
let provider: Awaited<ReturnType<typeof startChatProvider>>
before(async () => {
  await setClock(NOON)
  provider = await startChatProvider(() => 'a summary')
  server = await startServer({
    speech: createFakeSpeechEngine('hello world'),
    env: {
      STENO_LLM_URL: provider.url,
      STENO_LLM_MODEL: 'tiny',
      STENO_ACCOUNT_MAX_SECONDS_PER_MONTH: String(QUOTA),
    },
  })
  const key = { account: 'other', createdAt: 1, scopes: ['read', 'admin'] as const }
  const hash = sha256('admin').toString('hex')
  await insertKey(server.app.storage.db, { ...key, hash, prefix: 'st_admin' })
})
after(async () => {
  await server.close()
  provider.close()
  await setClock(Date.now())
})

async function usage(query = '', key = server.key) {
  return call<Report>({ ...server, key }, `/v2/usage?${query}`)
}

async function transcribe(params: object = {}, key = server.key): Promise<string> {
  const audio_url = await upload({ ...server, key }, createToneWav(5))
  const json = { audio_url, ...params }
  const { body } = await call<{ id: string }>({ ...server, key }, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  return body.id
}

test('usage is reported by day, key and kind, including deleted jobs', async () => {
  const id = await transcribe({ subtitles: true, summarization: true })
  await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  const { status, body } = await usage('by=day,key,kind')
  assert.equal(status, 200)
  const sums = {
    jobs: 1,
    failed_jobs: 0,
    audio_duration: 5,
    billing_time: 5,
    add_ons: { subtitles: 1, summarization: 1 },
    usage: { requests: 1, prompt_tokens: 100, completion_tokens: 10 },
  }
  assert.deepEqual(body.items, [{ day: TODAY, key: 'settings-1', kind: 'pre-recorded', ...sums }])
  assert.deepEqual(body.total, sums)
  const { limit, used, in_progress, resets_at } = body.quotas!.month
  assert.deepEqual([limit, used, in_progress], [QUOTA, 5, 0])
  assert.match(resets_at, /^\d{4}-\d\d-01T00:00:00\.000Z$/)
  assert.deepEqual((await usage('', OTHER_KEY)).body.items, [])
  assert.deepEqual((await usage('from=2020-01-01&to=2020-02-01')).body.items, [])
})

test('usage of other accounts requires the scope admin', async () => {
  const refused = await usage('account=test', OTHER_KEY)
  assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [403, 'scope_missing'])
  const one = await usage('account=test', 'admin')
  assert.equal(one.body.total.jobs, 1)
  assert.equal(one.body.quotas!.month.used, 5)
  const all = await usage('account=*&by=account', 'admin')
  assert.deepEqual(
    [all.body.items.map(({ account }) => account), all.body.quotas],
    [['test'], null],
  )
})

test('a usage period that is reversed or too long is rejected', async () => {
  for (const query of ['from=2026-02-02&to=2026-02-01', 'from=2020-01-01&to=2022-01-01', 'by=x']) {
    assert.equal((await usage(query)).status, 400, query)
  }
})

test('over the monthly quota new recordings and sessions get 402, other accounts not', async () => {
  await transcribe()
  const audio_url = await upload(server, createToneWav(5))
  const refused = await call<{ message: string }>(server, '/v2/pre-recorded', {
    json: { audio_url },
  })
  assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [402, 'quota_exceeded'])
  assert.match(
    refused.body.message,
    /^QuotaExceeded: .* it used 10 s of the 12 s of this month, this takes 5 s \(STENO_ACCOUNT_MAX_SECONDS_PER_MONTH\); the next month begins at /,
  )
  await call(server, '/v2/pre-recorded', {
    json: { audio_url: await upload(server, createToneWav(2)) },
  })
  await server.app.jobs.idle()
  const session = await call<{ message: string }>(server, '/v2/live', { json: {} })
  assert.equal(session.status, 402)
  assert.match(session.body.message, /used 12 s of the 12 s/)
  await transcribe({}, OTHER_KEY)
  assert.equal((await usage('', OTHER_KEY)).body.total.jobs, 1)
})

test('steno usage prints a table or JSON', async () => {
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const { code, stdout, stderr } = await runHere(['usage', '--by', 'kind'], env)
  assert.equal(code, 0, stderr)
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.match(head!, /^kind +jobs +failed +audio +billed +tokens$/)
  assert.match(lines[0]!, /^pre-recorded +3 +0 +0:00:12 +0:00:12 +110$/)
  assert.match(lines[1]!, /^all +3 /)
  assert.match(lines[2]!, /^This month: 0:00:12 of 0:00:12, 0:00:00 in progress, resets at /)
  const json = await runHere(['usage', '--json'], env)
  assert.equal((JSON.parse(json.stdout) as Report).total.jobs, 3)
  const wrong = await runHere(['usage', '--by', 'week'], env)
  assert.deepEqual([wrong.code, /--by must be/.test(wrong.stderr)], [2, true])
})
