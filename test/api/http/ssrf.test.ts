import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { type FetchOptions, fetchUrl } from '../../../src/jobs/fetching/fetch-url.ts'
import { createResolver, type Resolve } from '../../../src/net/dns/resolver.ts'
import { findJob } from '../../../src/storage/jobs/jobs.ts'
import { privateHosts, unreadableUrls } from '../../support/net/hostile-addresses.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

/** Listens on every address of this machine; nobody may come. */
const canary = createServer((request, response) => {
  visits.push(`${request.headers.host}${request.url}`)
  response.end('secret')
})
canary.on('connection', () => connections++)
const visits: string[] = []
let connections = 0

/** Stands for a public server, which sends whoever comes to the address in its query. */
const redirector = createSocketServer((socket) => {
  socket.once('data', (request) => {
    const [, query = ''] = /\?(\S*)/.exec(String(request)) ?? []
    const head = `HTTP/1.1 302 Found\r\nlocation: ${decodeURIComponent(query)}\r\n`
    socket.end(`${head}content-length: 0\r\nconnection: close\r\n\r\n`)
  })
})

const port = (server: Server) => (server.address() as AddressInfo).port

let server: TestServer

before(async () => {
  // Both families where the machine has both.
  const everywhere = once(canary.listen(0, '::'), 'listening')
  await everywhere.catch(() => once(canary.listen(0, '0.0.0.0'), 'listening'))
  await once(redirector.listen(0, '127.0.0.1'), 'listening')
  server = await startServer({ env: { STENO_ALLOW_PRIVATE_NETWORK: '' } })
})
after(async () => {
  await server.close()
  canary.close()
  redirector.close()
})

function assertUnseen(): void {
  assert.deepEqual([visits, connections], [[], 0])
}

const withPort = (url: string) => url.replaceAll('PORT', String(port(canary)))

function privateUrls(): string[] {
  const schemes = privateHosts.map((host) => `http://${host}:PORT/latest/meta-data/`)
  const others = ['https://127.0.0.1:PORT/', 'HTTP://127.0.0.1:PORT', 'http://a:b@127.0.0.1:PORT/']
  const fooling = [
    'http://audio.example@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT/?@audio.example/a.mp3',
    'http://127.0.0.1:PORT#@audio.example/',
    'http://10.0.0.1:22/',
    'http://127.0.0.1:6379/',
    'http://127.0.0.1:0/',
  ]
  return [...schemes, ...others, ...fooling].map(withPort)
}

/** Not every machine knows itself by a name with a dot at its end. */
function notPublic(url: string): RegExp {
  return /localhost\./i.test(url)
    ? /is not a public address|leads to no address/
    : /is not a public address/
}

test('the list of private hosts is long, and the canary server counts visits', async () => {
  assert.ok(privateHosts.length >= 60)
  await fetch(withPort('http://127.0.0.1:PORT/'))
  assert.deepEqual([visits.splice(0).length, connections], [1, 1])
  connections = 0
})

test('a job with a private URL fails, and no connection is made', async () => {
  const urls = privateUrls()
  const ids = []
  for (const audio_url of urls) {
    const created = await call<{ id: string }>(server, '/v2/pre-recorded', { json: { audio_url } })
    const { status, body } = created
    assert.equal(status, 201, audio_url)
    ids.push(body.id)
  }
  await server.app.jobs.idle()
  for (const [i, id] of ids.entries()) {
    const job = await findJob(server.app.storage.db, { id, account: 'test' })
    assert.deepEqual([job?.status, job?.errorCode], ['error', 502], urls[i])
    assert.match(JSON.stringify(job?.postSessionMetadata), notPublic(urls[i]!), urls[i])
  }
  assertUnseen()
})

test('an upload from a private URL gets 400, and no connection is made', async () => {
  for (const audio_url of privateUrls()) {
    const { status, body } = await call<ErrorBody>(server, '/v2/upload', { json: { audio_url } })
    assert.equal(status, 400, audio_url)
    assert.match(body.validation_errors?.[0] ?? '', notPublic(audio_url), audio_url)
  }
  assertUnseen()
})

test('a URL that is not http gets 400 for jobs and uploads', async () => {
  for (const audio_url of unreadableUrls.map(withPort)) {
    for (const path of ['/v2/pre-recorded', '/v2/upload']) {
      const { status, body } = await call<ErrorBody>(server, path, { json: { audio_url } })
      assert.equal(status, 400, audio_url)
      assert.match(body.validation_errors?.[0] ?? '', /^audio_url must be an absolute/, audio_url)
    }
  }
  assertUnseen()
})

/** A name service that knows every name by these addresses. */
function resolveTo(...addresses: string[]) {
  const found: LookupAddress[] = addresses.map((address) => {
    return { address, family: address.includes(':') ? 6 : 4 }
  })
  const resolve: Resolve = (_host, _options, callback) => callback(null, found)
  return resolve
}

function fetchText(url: string, options: Partial<FetchOptions>): Promise<Buffer> {
  const { signal } = new AbortController()
  const lookup = { resolve: createResolver(), account: 'acme' }
  const limits = { signal, timeout: 30, maxBytes: 1000, allowPrivateNetwork: [] }
  const usual: FetchOptions = { ...limits, ...lookup }
  return fetchUrl(url, (body) => buffer(body), { ...usual, ...options })
}

test('a redirect to a private address is rejected without a connection', async () => {
  const resolve: Resolve = (host, options, callback) =>
    host === 'public.example'
      ? resolveTo('127.0.0.1')(host, options, callback)
      : resolveTo('127.0.0.1', '::1')(host, options, callback)
  const options = { allowPrivateNetwork: ['public.example'], resolve }
  const targets = [...privateUrls(), ...unreadableUrls.map(withPort)]
  for (const target of targets) {
    const start = `http://public.example:${port(redirector)}/?${encodeURIComponent(target)}`
    const codes = ['source_refused', 'source_unreachable']
    await assert.rejects(fetchText(start, options), ({ code }: { code: string }) => {
      assert.ok(codes.includes(code), `${target}: ${code}`)
      return true
    })
  }
  assertUnseen()
})

const lookups: [title: string, ...addresses: string[]][] = [
  ['loopback', '127.0.0.1'],
  ['loopback of IPv6', '::1'],
  ['a public and a private address', '8.8.8.8', '127.0.0.1'],
  ['a private and a public address', '10.0.0.1', '8.8.8.8'],
  ['a public address and loopback of IPv6', '8.8.8.8', '::1'],
  ['a mapped address', '::ffff:127.0.0.1'],
  ['a link-local address with its zone', 'fe80::1%lo'],
  ['the metadata service', '169.254.169.254'],
  ['an address of NAT64', '64:ff9b::7f00:1'],
  ['what is no address', 'localhost'],
]
for (const [title, ...addresses] of lookups) {
  test(`a name that resolves to ${title} is rejected`, async () => {
    const url = withPort('http://rebound.example:PORT/')
    const fetched = fetchText(url, { resolve: resolveTo(...addresses) })
    await assert.rejects(fetched, { code: 'source_refused' })
    assertUnseen()
  })
}

test('a name is resolved once, so that a second answer cannot differ', async () => {
  let requested = 0
  const resolve: Resolve = (host, options, callback) => {
    const response = requested++ === 0 ? resolveTo('8.8.8.8', '10.0.0.1') : resolveTo('127.0.0.1')
    response(host, options, callback)
  }
  await assert.rejects(fetchText(withPort('http://rebound.example:PORT/'), { resolve }))
  assert.equal(requested, 1)
  assertUnseen()
})

const allowed: [entry: string, url: string][] = [
  ['127.0.0.1', 'http://127.0.0.1:PORT/'],
  ['127.0.0.0/8', 'http://127.0.0.1:PORT/'],
  ['127.0.0.1', 'http://[::ffff:127.0.0.1]:PORT/'],
  ['store.example', 'http://store.example:PORT/'],
  ['Store.Example', 'http://STORE.example:PORT/'],
  ['127.0.0.1/32', 'http://store.example:PORT/'],
]
for (const [entry, url] of allowed) {
  test(`${entry} on the list allows ${url}`, async () => {
    const options = { allowPrivateNetwork: [entry], resolve: resolveTo('127.0.0.1') }
    assert.equal(String(await fetchText(withPort(url), options)), 'secret')
    assert.equal(visits.splice(0).length, 1)
    connections = 0
  })
}

const notAllowed: [entry: string, url: string][] = [
  ['127.0.0.2', 'http://127.0.0.1:PORT/'],
  ['10.0.0.0/8', 'http://127.0.0.1:PORT/'],
  ['::1', 'http://127.0.0.1:PORT/'],
  ['store.example', 'http://store.example.evil.example:PORT/'],
  ['store.example', 'http://a.store.example:PORT/'],
  ['store.example', 'http://127.0.0.1:PORT/'],
  ['localhost', 'http://127.0.0.1:PORT/'],
]
for (const [entry, url] of notAllowed) {
  test(`${entry} on the list does not allow ${url}`, async () => {
    const options = { allowPrivateNetwork: [entry], resolve: resolveTo('127.0.0.1') }
    await assert.rejects(fetchText(withPort(url), options), { code: 'source_refused' })
    assertUnseen()
  })
}
