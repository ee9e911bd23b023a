/** Whatever id of another account somebody has, nothing of it is told or changed. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { startReportingServer } from '../../support/delivery/reporting-server.ts'
import { indexNow } from '../../support/jobs/index-now.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'

const SECRET = 'zanzibar'

/** Names of models, which are no secrets, and links, whose secret is the right itself. */
const excluded = ['/v1/models/', '/v2/models/', '/v2/shared/']

/** What a request must say to get as far as the id, by how its path ends. */
const bodies: Record<string, object> = {
  '/transcript/edits': {
    base_version: 0,
    operations: [{ op: 'name_speaker', channel: 0, name: 'thief' }],
  },
  '/share': { expires_in_s: 3600 },
  '/v2/live/{id}': { thief: true },
}

/** An error without what differs between any two requests. */
function withoutId({ message, statusCode }: ErrorBody, id: string) {
  return { statusCode, message: message.replaceAll(id, '{id}') }
}

type Document = { paths: Record<string, Record<string, object>> }

test('every route with an id responds 404 to another account', async (t) => {
  const server = await startReportingServer((url) => ({
    STENO_WEBHOOKS: `test=${url}/hook`,
  }))
  t.after(() => server.close())
  const { db } = server.app.storage
  const job = await server.run({ custom_metadata: { word: SECRET } })
  const live = await call<{ id: string }>(server, '/v2/live', { json: {} })
  const { body: shared } = await call<{ id: string }>(server, `/v2/pre-recorded/${job.id}/share`, {
    json: { expires_in_s: 3600 },
  })
  const deliveries = await call<{ items: { id: string; endpoint_id: string }[] }>(
    server,
    '/v2/deliveries',
  )
  const generated = await generateKey(db, { account: 'test', scopes: ['read'] })
  const ids: Record<string, string> = {
    '/file/': job.file!.id,
    '/v2/pre-recorded/': job.id,
    '/v2/transcription/': job.id,
    '/v2/live/': live.body.id,
    '/v2/deliveries/': deliveries.body.items[0]!.id,
    '/v2/endpoints/': deliveries.body.items[0]!.endpoint_id,
    '/v2/keys/': generated.id,
  }
  const { key } = await generateKey(db, {
    account: 'thief',
    scopes: ['read', 'write', 'live', 'keys'],
  })
  const thief = { url: server.url, key }
  const { body: document } = await call<Document>(server, '/openapi.json')
  let tried = 0
  for (const [pattern, operations] of Object.entries(document.paths)) {
    if (!pattern.includes('{') || excluded.some((path) => pattern.startsWith(path))) continue
    const begin = Object.keys(ids).find((path) => pattern.startsWith(path))
    assert.ok(begin, `${pattern} is not tried`)
    const path = pattern
      .replace('{id}', ids[begin]!)
      .replace('{share}', shared.id)
      .replace(/\{\w+\}/, 'summarization')
    for (const name of Object.keys(operations)) {
      const method = name.toUpperCase()
      if (!['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].includes(method)) continue
      const ending = Object.keys(bodies).find((one) => pattern.endsWith(one))
      const json = ['POST', 'PATCH'].includes(method) && ending ? bodies[ending] : undefined
      const init = { method, ...(json && { json }) }
      const { status, body } = await call<ErrorBody>(thief, path, init)
      assert.equal(status, 404, `${method} ${pattern}: ${JSON.stringify(body)}`)
      assert.ok(!JSON.stringify(body).includes(SECRET), `${method} ${pattern}`)
      // One that nobody has is answered in the same words.
      const id: string = ids[begin]!
      const unknown = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
      const other = await call<ErrorBody>(thief, path.replace(id, unknown), init)
      assert.deepEqual(withoutId(other.body, unknown), withoutId(body, id), `${method} ${pattern}`)
      tried++
    }
  }
  assert.ok(tried > 25, String(tried))

  await indexNow(server)
  for (const list of ['pre-recorded', 'live', 'transcription', 'deliveries', 'endpoints']) {
    const { body } = await call<{ items: unknown[] }>(thief, `/v2/${list}`)
    assert.deepEqual(body.items, [], list)
  }
  const found = await call<{ items: unknown[] }>(thief, '/v2/search?q=hello')
  assert.deepEqual(found.body.items, [])
  for (const path of ['/v2/pre-recorded', '/v2/upload']) {
    const theirs = await call(thief, path, { json: { audio_url: server.audioUrl } })
    assert.ok(theirs.status >= 400, `the recording of another account is not taken: ${path}`)
  }

  const after = await call<typeof job>(server, `/v2/pre-recorded/${job.id}`)
  assert.deepEqual([after.body.status, after.body.custom_metadata], ['done', { word: SECRET }])
  const stillThere = await call(server, `/v2/live/${live.body.id}`)
  assert.equal(stillThere.status, 200)
})
