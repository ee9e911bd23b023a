import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type {
  ApiCreatedShare,
  ApiSharedRecording,
  ApiShareList,
} from '../../../src/cli/client/api-types.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { addDoneJob } from '../../support/jobs/done-job.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'
import { utteranceOf } from '../../support/text/utterance-of.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

const spoken = [utteranceOf('we sale the bred', { speaker: 0 })]

async function open(given: object = {}) {
  const audio = await upload(server, createToneWav(1))
  const fileId = audio.split('/').at(-1)!
  const id = await addDoneJob(server, spoken, { fileId })
  const path = `/v2/pre-recorded/${id}`
  const { status, headers, body } = await share(path, given)
  assert.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
  const secret = body.url.split('/').at(-1)!
  return { id, fileId, path, created: body, secret, shared: `/v2/shared/${secret}` }
}

function share(path: string, json: object) {
  return call<ApiCreatedShare>(server, `${path}/share`, { json })
}

/** Requests as somebody who has no key. */
function visit(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(server.url + path, init)
}

test('a share link shows one transcript and its audio without a key', async () => {
  const { path, created, shared } = await open({ expires_in_s: 3600 })
  assert.match(created.url, new RegExp(`^${server.url}/#/shared/[\\w-]{43}$`))
  assert.equal(Date.parse(created.expires_at) - Date.parse(created.created_at), 3_600_000)
  const fix = { op: 'replace_words', utterance: 0, expected: spoken[0]!.text, text: 'We sell.' }
  const json = { base_version: 0, operations: [fix] }
  await call(server, `${path}/transcript/edits`, { method: 'PATCH', json })

  const response = await visit(shared)
  const body = (await response.json()) as ApiSharedRecording
  assert.equal(body.transcript.full_transcript, 'We sell.')
  assert.deepEqual([body.has_audio, body.kind], [true, 'pre-recorded'])
  const sound = await visit(`${shared}/file`, { headers: { range: 'bytes=0-3' } })
  assert.deepEqual([sound.status, await sound.text()], [206, 'RIFF'])
  for (const { headers } of [response, sound]) {
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.match(headers.get('x-robots-tag')!, /noindex/)
    assert.match(headers.get('content-security-policy')!, /default-src 'none'.*sandbox/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  }
  const plain = await share(path, { edited: false })
  const other = `/v2/shared/${plain.body.url.split('/').at(-1)}`
  const { transcript } = (await call<ApiSharedRecording>(server, other)).body
  assert.equal(transcript.full_transcript, spoken[0]!.text)
})

test('a share link reveals no id and opens nothing else; its secret is not stored', async () => {
  const { id, fileId, path, secret, shared } = await open()
  const text = await (await visit(shared)).text()
  for (const hidden of [id, fileId, 'test-key', '"test"']) assert.ok(!text.includes(hidden), hidden)
  const others = [path, `${path}/transcript`, `${path}/file`, `/file/${fileId}`, `${path}/shares`]
  for (const other of [...others, '/v2/pre-recorded', '/v2/events', '/v2/usage']) {
    for (const headers of [
      { 'x-service-key': secret },
      { cookie: `steno_sign_in=${secret}` },
      { authorization: `Bearer ${secret}` },
    ]) {
      const { status } = await visit(other, { headers })
      assert.ok(status === 401 || status === 404, `${other} ${status}`)
    }
  }
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
    assert.equal((await visit(shared, { method })).status, 405)
  }
  const wrong = [`${shared}x`, '/v2/shared/%00', `/v2/shared/${id}`, `${shared}/../${id}`]
  for (const path of wrong) assert.equal((await visit(path)).status, 404, path)
  const rows = await server.app.storage.db.sql.selectFrom('shares').selectAll().execute()
  assert.ok(!JSON.stringify(rows).includes(secret))
  const hash = createHash('sha256').update(secret).digest('hex')
  assert.ok(rows.some((row) => row.hash === hash))
  assert.equal((await visit(`/v2/shared/${hash}`)).status, 404)
})

test('share links are listed, and end by time, deletion or with the job', async () => {
  const { id, path, created, shared } = await open()
  const { url: _, ...listed } = created
  const { body } = await call<ApiShareList>(server, `${path}/shares`)
  assert.deepEqual(body, { items: [listed] })
  const headers = { 'x-service-key': OTHER_KEY }
  const one = `${path}/shares/${created.id}`
  assert.equal((await call(server, `${path}/shares`, { headers })).status, 404)
  assert.equal((await call(server, one, { method: 'DELETE', headers })).status, 404)
  assert.equal((await call(server, `${path}/share`, { headers, json: {} })).status, 404)
  assert.equal((await visit(shared)).status, 200)
  assert.equal((await call(server, one, { method: 'DELETE' })).status, 204)
  const gone = await visit(shared)
  assert.deepEqual([gone.status, gone.headers.get('x-error-code')], [404, 'share_not_found'])
  assert.equal((await visit(`${shared}/file`)).status, 404)
  assert.equal((await call(server, one, { method: 'DELETE' })).status, 404)

  const { sql } = server.app.storage.db
  const late = (await share(path, {})).body.url.split('/').at(-1)!
  const expire = { expires_at: Date.now() }
  await sql.updateTable('shares').set(expire).where('job_id', '=', id).execute()
  assert.equal((await visit(`/v2/shared/${late}`)).status, 404)
  const last = (await share(path, {})).body.url.split('/').at(-1)!
  assert.equal((await call(server, path, { method: 'DELETE' })).status, 202)
  assert.equal((await visit(`/v2/shared/${last}`)).status, 404)
})

test('a share link of a redacted job hides the original audio and its file name', async () => {
  const { id, shared } = await open()
  const { sql } = server.app.storage.db
  const request_params = JSON.stringify({ pii_redaction: true })
  await sql.updateTable('jobs').set({ request_params }).where('id', '=', id).execute()
  const view = (await (await visit(shared)).json()) as ApiSharedRecording
  assert.deepEqual([view.has_audio, view.name], [false, null])
  assert.equal((await visit(`${shared}/file`)).status, 404)
})

test('a share link lasts a minute to thirty days and needs a finished job', async () => {
  const { id, path } = await open()
  for (const expires_in_s of [59, 30 * 86_400 + 1, '60']) {
    assert.equal((await share(path, { expires_in_s })).status, 400)
  }
  const { sql } = server.app.storage.db
  await sql.updateTable('jobs').set({ status: 'error' }).where('id', '=', id).execute()
  const { status, headers } = await call<ErrorBody>(server, `${path}/share`, { json: {} })
  assert.deepEqual([status, headers.get('x-error-code')], [422, 'job_not_done'])
})
