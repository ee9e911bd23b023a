import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { createResolver } from '../../net/dns/resolver.ts'
import { fetchUrl } from './fetch-url.ts'

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function fetchText(url: string): Promise<string> {
  const bytes = await fetchUrl(url, (body) => buffer(body), {
    signal: new AbortController().signal,
    timeout: 30,
    maxBytes: 1000,
    allowPrivateNetwork: 'all',
    resolve: createResolver(),
    account: 'acme',
  })
  return bytes.toString('latin1')
}

const pages: [type: string, body: string, message: RegExp][] = [
  ['text/html <secret>; a=b', '<html>', /the source sent text.html$/],
  ['application/json', `{"error": "${'x'.repeat(100)}"}\r\n`, /the source sent application.json$/],
]
for (const [type, body, message] of pages) {
  test(`a page of the type ${type.split(' ')[0]} is rejected`, async (t) => {
    const origin = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(body)
    })
    await assert.rejects(fetchText(origin), { code: 'media_unsupported', message })
  })
}

test('a recording with the content type of a page is accepted', async (t) => {
  const sound = `RIFF\x24\0\0\0WAVEfmt ${'x'.repeat(100)}`
  const origin = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8' })
    response.write(sound.slice(0, 4), () => response.end(sound.slice(4), 'latin1'))
  })
  assert.equal(await fetchText(origin), sound)
})

test('up to five redirects are followed', async (t) => {
  const origin = await serve(t, (request, response) => {
    const left = Number(request.url!.slice(1))
    if (left === 0) return response.end('sound')
    return response.writeHead(302, { location: `/${left - 1}` }).end('moved')
  })
  assert.equal(await fetchText(`${origin}/5`), 'sound')
  await assert.rejects(fetchText(`${origin}/6`), { code: 'source_unreachable', message: /5 times/ })
})

test('a redirect may name its target in UTF-8', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url !== '/') return response.end(request.url)
    return response.writeHead(302, { location: Buffer.from('/été').toString('latin1') }).end()
  })
  assert.equal(await fetchText(origin), '/%C3%A9t%C3%A9')
})

test('credentials in the URL are sent to its own origin, not to others', async (t) => {
  const seen: (string | undefined)[] = []
  const target = await serve(t, (request, response) => {
    seen.push(request.headers.authorization)
    response.end('sound')
  })
  const origin = await serve(t, (request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(307, { location: request.url === '/' ? '/b' : `${target}/c` }).end()
  })
  await fetchText(origin.replace('http://', 'http://me:s%C3%A9same@'))
  const expected = `Basic ${Buffer.from('me:sésame').toString('base64')}`
  assert.deepEqual(seen, [expected, expected, undefined])
})
