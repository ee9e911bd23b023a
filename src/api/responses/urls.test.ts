import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { baseUrlOf, fileIdOf, fileUrl, isHost, liveUrl, originOf } from './urls.ts'

function requestWith(headers: Record<string, string>): IncomingMessage {
  return { headers, socket: { localAddress: '::1', localPort: 7070 } } as unknown as IncomingMessage
}

const direct = { publicBaseUrl: undefined, trustProxy: false }
const proxied = { publicBaseUrl: undefined, trustProxy: true }

test('without configuration the base URL comes from the Host header', () => {
  assert.equal(
    baseUrlOf(requestWith({ host: 'stt.example:8080' }), direct),
    'http://stt.example:8080',
  )
})

test('a configured base URL takes precedence and keeps its path', () => {
  const settings = { publicBaseUrl: 'https://a.example/stt', trustProxy: true }
  const request = requestWith({ host: 'b.example', 'x-forwarded-host': 'c.example' })
  assert.equal(baseUrlOf(request, settings), 'https://a.example/stt')
  assert.equal(originOf(request, settings), 'http://c.example')
})

test('forwarded headers count only behind a trusted proxy, with their first value', () => {
  const request = requestWith({
    host: 'inner',
    'x-forwarded-host': 'stt.example, middle',
    'x-forwarded-proto': 'https, http',
  })
  assert.equal(originOf(request, direct), 'http://inner')
  assert.equal(originOf(request, proxied), 'https://stt.example')
})

test('an invalid forwarded host or scheme is ignored', () => {
  const headers = { host: 'inner', 'x-forwarded-host': 'a/b?c', 'x-forwarded-proto': 'javascript' }
  assert.equal(originOf(requestWith(headers), proxied), 'http://inner')
})

test('without a Host header the base URL is the local address of the connection', () => {
  assert.equal(originOf(requestWith({}), direct), 'http://[::1]:7070')
})

test('isHost accepts a name or an address with an optional port, and nothing else', () => {
  for (const host of ['a', 'a.example:80', '127.0.0.1:7070', '[::1]:7070', 'my_host']) {
    assert.ok(isHost(host), host)
  }
  for (const host of [
    '',
    'a/b',
    'a@b',
    'a b',
    'a:b',
    'a:99999',
    'a?b',
    'a#b',
    'ä',
    '[::1',
    'a\\b',
  ]) {
    assert.ok(!isHost(host), host)
  }
})

for (const [base, publicWsBaseUrl, address] of [
  ['http://stt.example:7070', undefined, 'ws://stt.example:7070/v2/live?token=a-_b'],
  ['https://stt.example', undefined, 'wss://stt.example/v2/live?token=a-_b'],
  ['https://a.example/stt', undefined, 'wss://a.example/stt/v2/live?token=a-_b'],
  ['https://a.example', 'ws://b.example:81', 'ws://b.example:81/v2/live?token=a-_b'],
  ['http://a.example/stt', 'wss://b.example', 'wss://b.example/stt/v2/live?token=a-_b'],
  ['http://a.example/stt', 'wss://b.example/x/y', 'wss://b.example/x/y/v2/live?token=a-_b'],
] as const) {
  test(`the live URL for base ${base} and socket base ${publicWsBaseUrl} is ${address}`, () => {
    assert.equal(liveUrl(base, 'a-_b', { publicWsBaseUrl }), address)
  })
}

test('fileIdOf reads the id from upload URLs of any configured base, and no other URL', () => {
  const bases = ['https://a.example/stt', 'http://localhost:7070']
  const ids = (url: string) => fileIdOf(url, bases)
  assert.equal(ids('https://a.example/stt/file/1'), '1')
  assert.equal(ids('https://A.example:443/stt/file/1/'), '1')
  assert.equal(ids('http://localhost:7070/file/2?x=1'), '2')
  assert.equal(ids('http://localhost:7070/file/'), '')
  assert.equal(ids('https://a.example/file/1'), undefined)
  assert.equal(ids('http://a.example/stt/file/1'), undefined)
  assert.equal(ids('http://localhost:7071/file/1'), undefined)
  assert.equal(ids('http://localhost:7070/files/1'), undefined)
})

test('fileIdOf finds the id in any URL that fileUrl wrote', () => {
  const path = fc.array(fc.stringMatching(/^[a-z0-9-]{1,8}$/), { maxLength: 3 })
  fc.assert(
    fc.property(fc.webAuthority(), path, fc.uuid(), (authority, folders, id) => {
      const base = ['https:/', authority, ...folders].join('/')
      assert.equal(fileIdOf(fileUrl(base, id), [base]), id)
    }),
  )
})
