import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { insertKey, type Scope } from '../../../src/storage/accounts/keys.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type Secret = { value: string; expires_at: number; session: { id: string; type: string } }
type OpenAiError = { error: { message: string; code: string | null } }

let server: TestServer
before(async () => {
  const env = { STENO_CORS_ORIGINS: 'https://app.example' }
  server = await startServer({ speech: createFakeSpeechEngine('Hello there.'), env })
})
after(() => server.close())

async function create(json: object, key = server.key): Promise<Secret> {
  const path = '/v1/realtime/client_secrets'
  const { status, body } = await call<Secret>({ ...server, key }, path, { json })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

async function refusal(json: object, path = '/v1/realtime/client_secrets') {
  const { status, body } = await call<OpenAiError>(server, path, { json })
  return [status, body.error.message]
}

/** Adds a key of the account `test` with some scopes. */
async function addKey(scopes: Scope[]): Promise<{ key: string; hash: string }> {
  const key = randomUUID()
  const hash = createHash('sha256').update(key).digest('hex')
  const named = { account: 'test', prefix: 'st_page', createdAt: 1 }
  await insertKey(server.app.storage.db, { ...named, hash, scopes })
  return { key, hash }
}

/** Opens a socket as a page does; returns the first event, or the status of a refusal. */
async function open(token: string): Promise<{ type: string; session: unknown } | number> {
  const url = `${server.url.replace('http', 'ws')}/v1/realtime?intent=transcription`
  const socket = new WebSocket(url, ['realtime', `openai-insecure-api-key.${token}`])
  try {
    const refused = once(socket, 'unexpected-response').then(([, response]) => {
      return (response as { statusCode: number }).statusCode
    })
    const message = once(socket, 'message').then(([data]) => JSON.parse(String(data)))
    message.catch(() => {})
    refused.catch(() => {})
    return await Promise.race([message, refused])
  } finally {
    socket.on('error', () => {})
    socket.terminate()
  }
}

test('a client secret opens sockets with its settings, and nothing else', async () => {
  const before = Date.now()
  const { value, expires_at, session } = await create({
    expires_after: { anchor: 'created_at', seconds: 30 },
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcmu' },
          transcription: { model: 'gpt-4o-transcribe', language: 'en', prompt: 'Zyntrix' },
          turn_detection: null,
        },
      },
    },
  })
  assert.match(value, /^ek_[\w-]{43}\./)
  assert.ok(Math.abs(expires_at * 1000 - before - 30_000) < 5000)
  assert.match(session.id, /^sess_/)
  for (let n = 0; n < 2; n++) {
    const first = await open(value)
    assert.ok(typeof first === 'object')
    assert.equal(first.type, 'session.created')
    const { id: _, ...settings } = first.session as { id: string }
    const { id: _id, ...expected } = session
    assert.deepEqual(settings, expected)
  }
  for (const path of ['/v2/live', '/v1/models', '/v1/realtime/client_secrets']) {
    const method = path.endsWith('secrets') ? 'POST' : 'GET'
    const headers = { authorization: `Bearer ${value}` }
    assert.equal((await fetch(server.url + path, { method, headers })).status, 401, path)
    assert.equal((await call({ ...server, key: value }, path, { method })).status, 401, path)
  }
})

test('a changed or expired client secret, or one of a revoked key, is rejected', async () => {
  const { db } = server.app.storage
  const { key, hash } = await addKey(['live'])
  const { value } = await create({}, key)
  const settings = Buffer.from('{"format":"pcm16"}').toString('base64url')
  const changed = `${value.slice(0, value.indexOf('.'))}.${settings}`
  assert.equal(typeof (await open(value)), 'object')
  assert.equal(await open(changed), 401)
  const ended = await create({}, key)
  await db.sql.updateTable('sign_ins').set({ expires_at: 1 }).execute()
  assert.equal(await open(ended.value), 401)
  const last = await create({}, key)
  await db.sql.deleteFrom('keys').where('hash', '=', hash).execute()
  assert.equal(await open(last.value), 401)
})

test('creating client secrets requires the scope live and is limited', async () => {
  const reader = await addKey(['read', 'write'])
  const path = '/v1/realtime/client_secrets'
  assert.equal((await call({ ...server, key: reader.key }, path, { json: {} })).status, 403)
  const { key, hash } = await addKey(['live'])
  const rows = Array.from({ length: 1000 }, (_, n) => {
    return { hash: `n${n}`, kind: 'client' as const, key_hash: hash, expires_at: 1e15 }
  })
  await server.app.storage.db.sql.insertInto('sign_ins').values(rows).execute()
  assert.equal((await call({ ...server, key }, path, { json: {} })).status, 429)
})

test('invalid settings of a client secret are named', async () => {
  assert.deepEqual(await refusal({ session: { type: 'realtime' } }), [
    400,
    'session.type must be transcription: this server only transcribes',
  ])
  assert.deepEqual(await refusal({ expires_after: { anchor: 'created_at', seconds: 5 } }), [
    400,
    'expires_after.seconds must not be less than 10',
  ])
  const language = { audio: { input: { transcription: { language: 'xx' } } } }
  assert.match(String((await refusal({ session: language }))[1]), /^language must be one of/)
  const format = { audio: { input: { format: { type: 'audio/opus' } } } }
  const [status, message] = await refusal({ session: format })
  assert.deepEqual([status, /format must be/.test(String(message))], [400, true])
})

test('client secrets support the beta format', async () => {
  type Older = Secret['session'] & { client_secret: Secret; input_audio_format: string }
  const json = {
    input_audio_format: 'g711_ulaw',
    input_audio_transcription: { model: 'whisper-1', language: 'en' },
  }
  const { status, body } = await call<Older>(server, '/v1/realtime/transcription_sessions', {
    json,
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.input_audio_format, 'g711_ulaw')
  assert.equal(typeof (await open(body.client_secret.value)), 'object')
})

test('a client secret of the beta may leave the end of turns to the client', async () => {
  type Older = { turn_detection: object | null; client_secret: Secret }
  for (const detection of [null, { type: 'server_vad', silence_duration_ms: 300 }]) {
    const json = { turn_detection: detection }
    const path = '/v1/realtime/transcription_sessions'
    const { body } = await call<Older>(server, path, { json })
    assert.deepEqual(body.turn_detection, detection)
    const first = await open(body.client_secret.value)
    assert.ok(typeof first === 'object')
    const { audio } = first.session as { audio: { input: { turn_detection: object | null } } }
    assert.deepEqual(audio.input.turn_detection, detection)
  }
})

test('a page of a configured origin may create a client secret', async () => {
  const response = await fetch(`${server.url}/v1/realtime/client_secrets`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  })
  assert.equal(response.status, 204)
  assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.example')
})
