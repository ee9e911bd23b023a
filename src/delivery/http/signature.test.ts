import assert from 'node:assert/strict'
import test from 'node:test'
import { Webhook } from 'standardwebhooks'
import { generateSecret } from '../../storage/deliveries/endpoints/signing-secrets.ts'
import { signedHeaders } from './signature.ts'

const id = '5f1d3a52-6d0f-4d8a-8c46-2b8e0b1f9a77'
const text = '{"event":"live.transcript","payload":"Grüße 🎙"}'

function bodyOf(...chunks: Uint8Array[]) {
  async function* read() {
    yield* chunks
  }
  return { bytes: Buffer.concat(chunks).length, chunks: read }
}

function verify(secret: string, payload: string | Buffer, headers: Record<string, string>) {
  return new Webhook(secret).verify(payload, headers, { jsonParse: false })
}

test('a signature verifies with the public Standard Webhooks library', async () => {
  const secret = generateSecret()
  const toSign = { id, at: Date.now(), body: bodyOf(Buffer.from(text)), secrets: [secret] }
  const headers = await signedHeaders(toSign, { prefixes: [] })
  assert.deepEqual(Object.keys(headers).sort(), [
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
  ])
  verify(secret, text, headers)
  assert.throws(() => verify(generateSecret(), text, headers))
  assert.throws(() => verify(secret, `${text} `, headers))
  assert.throws(() => verify(secret, text, { ...headers, 'webhook-id': 'another' }))
})

test('the signed timestamp is that of the attempt in whole seconds', async () => {
  const toSign = { id, at: 1_700_000_000_999, body: bodyOf(Buffer.from(text)), secrets: [] }
  const headers = await signedHeaders(toSign, { prefixes: [] })
  assert.deepEqual(headers, { 'webhook-id': id, 'webhook-timestamp': '1700000000' })
})

test('with several secrets each one verifies, which allows rotation', async () => {
  const secrets = [generateSecret(), generateSecret()]
  const toSign = { id, at: Date.now(), body: bodyOf(Buffer.from(text)), secrets }
  const headers = await signedHeaders(toSign, { prefixes: [] })
  assert.match(headers['webhook-signature']!, /^v1,\S+ v1,\S+$/)
  for (const secret of secrets) verify(secret, text, headers)
})

test('additional prefixes carry the same three headers', async () => {
  const secret = generateSecret()
  const toSign = { id, at: Date.now(), body: bodyOf(Buffer.from(text)), secrets: [secret] }
  const headers = await signedHeaders(toSign, { prefixes: ['svix', 'x-own'] })
  for (const name of ['id', 'timestamp', 'signature']) {
    assert.equal(headers[`svix-${name}`], headers[`webhook-${name}`])
    assert.equal(headers[`x-own-${name}`], headers[`webhook-${name}`])
  }
})

test('a body in chunks is signed as a whole', async () => {
  const secret = generateSecret()
  const long = Buffer.from('Grüße 🎙 '.repeat(50_000))
  const chunks = [
    long.subarray(0, 100_001),
    long.subarray(100_001, 100_002),
    long.subarray(100_002),
  ]
  const toSign = { id, at: Date.now(), body: bodyOf(...chunks), secrets: [secret] }
  const headers = await signedHeaders(toSign, { prefixes: [] })
  verify(secret, long, headers)
})
