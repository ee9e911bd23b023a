import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { indexNow } from '../../support/jobs/index-now.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'
import { filesHolding } from '../../support/storage/folder-search.ts'

type Hit = {
  job: { id: string; kind: string; filename: string }
  start: number
  text: string
  highlights: [number, number][]
  before: string | null
}
type Hits = { items: Hit[]; next: string | null; current: string }

const spoken = 'Policies of naïve Zanzibar travelers. My name is Lena Huber.'

let server: TestServer
let id: string
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine(spoken) })
  id = await transcribe({ custom_metadata: { team: 'red' } })
})
after(() => server.close())

/** Transcribes a recording, and indexes it without waiting for the usual interval. */
async function transcribe(params: Record<string, unknown> = {}): Promise<string> {
  const json = { audio_url: await upload(server, createToneWav(2)), ...params }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  await indexNow(server)
  return body.id
}

async function search(query: string, headers: Record<string, string> = {}): Promise<Hit[]> {
  const { status, body } = await call<Hits>(server, `/v2/search?${query}`, { headers })
  assert.equal(status, 200, JSON.stringify(body))
  return body.items
}

test('search finds other forms of the words, with positions and highlights', async () => {
  const [hit] = await search('q=policy+traveling+NAIVE')
  assert.deepEqual([hit!.job.id, hit!.job.kind], [id, 'pre-recorded'])
  const marked = hit!.highlights.map(([start, end]) => hit!.text.slice(start, end))
  assert.deepEqual(marked, ['Policies', 'naïve'].concat(marked.slice(2)))
  assert.equal((await search('q=%22zanzibar+travelers%22')).length, 1)
  assert.equal((await search('q=%22travelers+zanzibar%22')).length, 0)
  assert.equal((await search('q=zanz*&language=en&kind=pre-recorded')).length, 1)
  assert.equal((await search('q=zanzibar+-policies')).length, 0)
  assert.equal((await search('q=zanzibar&kind=live')).length, 0)
  assert.equal((await search('q=zanzibar&custom_metadata[team]=red')).length, 1)
  assert.equal((await search('q=zanzibar&custom_metadata[team]=blue')).length, 0)
  assert.equal((await search('q=zanzibar&before_date=2020-01-01')).length, 0)
  assert.deepEqual(await search('q=zanzibar', { 'x-service-key': OTHER_KEY }), [])
})

test('search reads its language as a request for a job does', async () => {
  assert.equal((await search('q=zanzibar&language=en-US')).length, 1)
  assert.equal((await search('q=zanzibar&language=de')).length, 0)
  const { status, body } = await call<ErrorBody>(server, '/v2/search?q=zanzibar&language=xx')
  assert.equal(status, 400)
  assert.match(body.validation_errors![0]!, /^language must be one of: af, am, /)
})

test('search finds utterances by the assigned speaker name', async () => {
  const job = await transcribe({ diarization: true })
  const named = async (query: string) => {
    return (await search(`q=zanzibar&${query}`)).filter((hit) => hit.job.id === job).length
  }
  assert.equal(await named('speaker_name=Zo%C3%AB'), 0)
  const path = `/v2/pre-recorded/${job}/transcript/edits`
  const rename = async (base_version: number, name: string) => {
    const operations = [{ op: 'name_speaker', speaker: 0, name }]
    const json = { base_version, operations }
    assert.equal((await call(server, path, { method: 'PATCH', json })).status, 200)
    await indexNow(server)
  }
  await rename(0, 'Zoë van Dijk')
  assert.equal(await named('speaker_name=zoe%20VAN%20dijk'), 1)
  assert.equal(await named('speaker_name=Zoe'), 0, 'a part of a name is another name')
  assert.equal(await named('speaker_name=%F0%9F%99%82'), 0)
  // The name is not among the words.
  assert.deepEqual(await search('q=dijk'), [])
  await rename(1, '李')
  assert.equal(await named('speaker_name=%E6%9D%8E'), 1)
  assert.equal(await named('speaker_name=zoe%20van%20dijk'), 0)
  const found = await runHere(['search', '--speaker-name', '李', 'zanzibar'], {
    STENO_URL: server.url,
    STENO_KEY: server.key,
  })
  assert.match(found.stdout, new RegExp(`${job} [^\n]*: 李: `))
  await call(server, `/v2/pre-recorded/${job}`, { method: 'DELETE' })
  await indexNow(server)
})

test('search finds corrected words instead of the original ones', async () => {
  const job = await transcribe()
  const path = `/v2/pre-recorded/${job}/transcript/edits`
  const text = 'Rules'
  const replaced = {
    op: 'replace_words',
    utterance: 0,
    from: 0,
    to: 1,
    expected: 'Policies',
    text,
  }
  const json = { base_version: 0, operations: [replaced] }
  const { status, body } = await call(server, path, { method: 'PATCH', json })
  assert.equal(status, 200, JSON.stringify(body))
  await indexNow(server)
  const idsOf = async (q: string) => (await search(q)).map((hit) => hit.job.id)
  assert.deepEqual(await idsOf('q=rule+zanzibar'), [job])
  assert.deepEqual(await idsOf('q=policy+zanzibar'), [id])
  await call(server, `/v2/pre-recorded/${job}`, { method: 'DELETE' })
})

test('adversarial queries find nothing or are rejected', async () => {
  const hostile = [`"' OR 1=1`, 'a AND NOT (b', '*', 'NEAR(a b)', 'terms : x', '\u0000x', '日本']
  for (const q of hostile) {
    const { status } = await call(server, `/v2/search?q=${encodeURIComponent(q)}`)
    assert.ok(status === 200 || status === 400, `${q}: ${status}`)
  }
  for (const query of ['', 'q=', 'q=-only', 'q=%22%22', `q=${'x'.repeat(501)}`, 'q=a&speaker=x']) {
    const { status, body } = await call<ErrorBody>(server, `/v2/search?${query}`)
    assert.deepEqual([status, body.statusCode], [400, 400], query)
  }
})

test('search never finds redacted words, and deleted ones leave no byte', async () => {
  const redacted = await transcribe({
    pii_redaction: true,
    pii_redaction_config: { entity_types: 'NAME' },
  })
  const found = await search('q=lena')
  assert.deepEqual(
    found.map(({ job }) => job.id),
    [id],
  )
  assert.equal((await search('q=zanzibar')).length, 2)
  for (const job of [redacted, id]) {
    assert.equal((await call(server, `/v2/pre-recorded/${job}`, { method: 'DELETE' })).status, 202)
  }
  assert.deepEqual(await search('q=zanzibar'), [])
  await indexNow(server)
  const { sql } = server.app.storage.db
  await sql.executeQuery({ sql: 'pragma wal_checkpoint(truncate)', parameters: [] } as never)
  const needles = ['Zanzibar', 'zanzibar'].map((text) => Buffer.from(text))
  assert.deepEqual(await filesHolding(server.folder, needles), [])
})

test('steno search prints its hits', async () => {
  const job = await transcribe()
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const run = (...args: string[]) => runHere(['search', ...args], env)
  const { stdout, code } = await run('policy', 'zanzibar')
  assert.match(stdout, new RegExp(`^${job} 0:00:0\\d talk.wav: Policies of naïve Zanzibar`))
  assert.equal(code, 0)
  const none = await run('nothing', 'like', 'it')
  assert.deepEqual([none.code, none.stderr], [1, 'Nothing found.\n'])
  assert.equal((await run()).code, 2)
})
