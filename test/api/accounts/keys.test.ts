import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import type { Scope } from '../../../src/storage/accounts/keys.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const ID = '00000000-0000-0000-0000-000000000000'
/** The use of a key is noted within milliseconds; one that is not by then will not be. */
const TIMEOUT_MS = 10_000

let server: TestServer

before(async () => {
  server = await startServer()
})
after(() => server.close())

function steno(folder: string, ...args: string[]) {
  return runHere(['keys', ...args], { STENO_DATA_DIR: folder })
}

/**
 * Makes a key of the account `test` and resolves to how a request with it fares: status and error
 * code.
 */
async function makeCaller(options: { scopes?: readonly Scope[]; expiresAt?: number } = {}) {
  const { key } = await generateKey(server.app.storage.db, { account: 'test', ...options })
  return async (method: string, path: string) => {
    const response = await fetch(server.url + path, { method, headers: { 'x-service-key': key } })
    await response.arrayBuffer()
    return [response.status, response.headers.get('x-error-code')]
  }
}

/** The fields of each line that `steno keys` prints about a key. */
async function listKeys(folder: string): Promise<string[][]> {
  const { code, stdout } = await steno(folder)
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.match(head!, /^id +account +name +scopes +created +expires +last used$/)
  assert.equal(code, 0)
  return lines.map((line) => line.split(/ {2,}/))
}

test('a key created, listed and revoked beside a running server takes effect at once', async () => {
  const options = [
    '--account',
    'test',
    '--name',
    'night job',
    '--scopes',
    'read',
    '--expires',
    '2d',
  ]
  const { code, stdout, stderr } = await steno(server.folder, 'create', ...options)
  const [key, id] = /^(steno_[\w-]{8})[\w-]{35}\n$/.exec(stdout) ?? []
  assert.ok(key && id && code === 0, stderr)
  assert.ok(stderr.includes(`Key ${id} of the account test, for read until 2`))
  assert.ok(!stderr.includes(stdout.trim()))

  const caller = { ...server, key: stdout.trim() }
  assert.equal((await call(caller, '/v2/live')).status, 200)
  const find = async () => (await listKeys(server.folder)).find(([listed]) => listed === id)!
  const limit = performance.now() + TIMEOUT_MS
  while ((await find()).at(-1) === '-') assert.ok(performance.now() < limit, 'its use is noted')
  const [, account, name, scopes, ...moments] = await find()
  assert.deepEqual([account, name, scopes], ['test', 'night job', 'read'])
  const [created, expires, used] = moments.map((moment) => Date.parse(moment))
  // Counted from the command's start; the key is made a moment later.
  const early = created! + 2 * 86_400_000 - expires!
  assert.ok(early >= 0 && early < TIMEOUT_MS, String(early))
  assert.ok(used! >= created! && used! <= Date.now())

  const revoked = await steno(server.folder, 'revoke', 'steno_nobody', id)
  const reported = `steno_nobody: no key has this id\n${id}: revoked\n`
  assert.deepEqual(revoked, { code: 1, stdout: '', stderr: reported })
  const refused = await call(caller, '/v2/live')
  assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [401, 'key_unknown'])
  assert.equal(await find(), undefined)
})

test("'keys create' works before the first start, and other commands do not", async (t) => {
  const folder = join(await makeFolder(t), 'data')
  const none = await steno(folder, 'list')
  assert.match(none.stderr, /^steno keys: Cannot find a database in .*data \(STENO_DATA_DIR\)$/m)
  assert.equal(none.code, 1)

  const { stdout, stderr } = await steno(folder, 'create')
  const id = stdout.slice(0, 14)
  const all = ['default', '-', 'read,write,live']
  assert.match(stderr, /of the account default, for read, write, live, in .*data\.$/m)
  const [[listed, account, name, scopes, created, expires, used] = []] = await listKeys(folder)
  assert.deepEqual([listed, account, name, scopes], [id, ...all])
  assert.ok(Date.now() - Date.parse(created!) < 3_600_000)
  assert.deepEqual([expires, used], ['-', '-'])
  assert.deepEqual(await steno(folder, 'revoke', id), {
    code: 0,
    stdout: '',
    stderr: `${id}: revoked\n`,
  })
})

test('an expired key is rejected', async () => {
  const request = await makeCaller({ expiresAt: Date.now() - 1 })
  assert.deepEqual(await request('GET', '/v2/live'), [401, 'key_expired'])
  const requestInTime = await makeCaller({ expiresAt: Date.now() + 3_600_000 })
  assert.deepEqual(await requestInTime('GET', '/v2/live'), [200, null])
})

const requests: [method: string, path: string, scope: Scope, otherwise: [number, string | null]][] =
  [
    ['GET', '/v2/pre-recorded', 'read', [200, null]],
    ['HEAD', '/v2/live', 'read', [200, null]],
    ['GET', `/file/${ID}`, 'read', [404, 'file_not_found']],
    ['GET', `/v2/transcription/${ID}`, 'read', [404, 'job_not_found']],
    ['POST', '/v2/upload', 'write', [415, 'content_type_unsupported']],
    ['POST', '/v2/pre-recorded', 'write', [415, 'content_type_unsupported']],
    ['POST', '/v2/transcription', 'write', [415, 'content_type_unsupported']],
    ['DELETE', `/v2/pre-recorded/${ID}`, 'write', [404, 'job_not_found']],
    ['DELETE', `/v2/transcription/${ID}`, 'write', [404, 'job_not_found']],
    ['DELETE', `/v2/live/${ID}`, 'live', [404, 'job_not_found']],
  ]

test('each request requires its scope', async () => {
  for (const scope of ['read', 'write', 'live'] as const) {
    const request = await makeCaller({ scopes: [scope] })
    for (const [method, path, needed, otherwise] of requests) {
      const expected = scope === needed ? otherwise : [403, 'scope_missing']
      assert.deepEqual(await request(method, path), expected, `${method} ${path} with ${scope}`)
    }
  }
})

test('shared routes delete a live job only with the scope live', async () => {
  const live = randomUUID()
  const job = {
    account: 'test',
    kind: 'live',
    status: 'done',
    created_at: 1,
    run_after: 0,
  } as const
  const row = { ...job, id: live, post_session_metadata: '{}' }
  await server.app.storage.db.sql
    .insertInto('jobs')
    .values(row as never)
    .execute()
  const recorded = await call<{ id: string }>(server, '/v2/pre-recorded', {
    json: { audio_url: await upload(server, createToneWav(0.5)) },
  })
  await server.app.jobs.idle()
  const request = await makeCaller({ scopes: ['read', 'write'] })
  assert.deepEqual(await request('DELETE', `/v2/transcription/${live}`), [404, 'job_not_found'])
  assert.deepEqual(await request('DELETE', `/v2/transcription/${recorded.body.id}`), [202, null])
  const requestAll = await makeCaller()
  assert.deepEqual(await requestAll('DELETE', `/v2/transcription/${live}`), [202, null])
})

test('links and retries, which reveal jobs, require the scopes read and write', async () => {
  const paths = [`/v2/pre-recorded/${ID}/share`, `/v2/pre-recorded/${ID}/addons/subtitles/retry`]
  for (const scopes of [['write'], ['read', 'live', 'keys']] satisfies Scope[][]) {
    const request = await makeCaller({ scopes })
    for (const path of paths) assert.deepEqual(await request('POST', path), [403, 'scope_missing'])
  }
  const request = await makeCaller({ scopes: ['read', 'write'] })
  assert.deepEqual(await request('POST', paths[1]!), [404, 'job_not_found'])
})

test('a key beyond its rate limit gets Retry-After, and others are not limited', async (t) => {
  const env = { STENO_RATE_LIMIT: '1/3', STENO_API_KEYS: 'test:one,test:two' }
  const limited = await startServer({ env })
  t.after(() => limited.close())
  const { key: reader } = await generateKey(limited.app.storage.db, {
    account: 'test',
    scopes: ['read'],
  })
  const request = async (key: string, path: string, method = 'GET') => {
    const { status, headers } = await call({ ...limited, key }, path, { method })
    return { status, code: headers.get('x-error-code'), wait: headers.get('retry-after') }
  }
  /** What answers while the bucket of `key` is not empty, whatever the requests come to. */
  async function empty(key: string, expected: [method: string, path: string, status: number][]) {
    for (const [method, path, status] of expected) {
      assert.equal((await request(key, path, method)).status, status, `${method} ${path}`)
    }
  }
  await empty('one', [
    ['GET', '/v2/live', 200],
    ['GET', '/v2/nowhere', 404],
    ['PUT', '/v2/live', 405],
    ['GET', `/file/${ID}`, 404],
    ['POST', '/v2/pre-recorded', 415],
  ])
  const { wait, ...refusal } = await request('one', '/v2/pre-recorded', 'POST')
  assert.deepEqual(refusal, { status: 429, code: 'rate_limited' })
  assert.ok(Number.isInteger(Number(wait)) && Number(wait) >= 1 && Number(wait) <= 60, `${wait}`)
  await empty(reader, [
    ['POST', '/v2/upload', 403],
    ['GET', '/v2/live', 200],
    ['GET', '/v2/live', 200],
    ['POST', '/v2/upload', 429],
  ])
  for (let i = 0; i < 5; i++) {
    assert.equal((await request('wrong', '/v2/live')).status, 401)
    assert.equal((await request('one', '/health')).status, 200)
    assert.equal((await request('one', '/ready')).status, 200)
  }
  assert.equal((await request('two', '/v2/live')).status, 200)
})
