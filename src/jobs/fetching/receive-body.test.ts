import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { createResolver } from '../../net/dns/resolver.ts'
import { fetchUrl } from './fetch-url.ts'

const SOUND = 'a long recording of many bytes'

type Source = {
  /** Of each request, the range that it asked for. */
  ranges: (string | undefined)[]
  fetched: Promise<string>
}

/** Fetches from a source whose connections break off after so many bytes. */
async function fetchFrom(
  t: TestContext,
  { pieces, headers }: { pieces: readonly number[]; headers(turn: number): Record<string, string> },
): Promise<Source> {
  const ranges: (string | undefined)[] = []
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const turn = ranges.push(request.headers.range) - 1
    const own = headers(turn)
    const isSame = request.headers['if-range'] === (own.etag ?? own['last-modified'])
    const from = isSame ? Number(/\d+/.exec(request.headers.range ?? '0')![0]) : 0
    const part = { 'content-range': `bytes ${from}-${SOUND.length - 1}/${SOUND.length}` }
    const rest = SOUND.slice(from)
    const shown = { ...own, ...(from > 0 && part), 'content-length': `${rest.length}` }
    response.writeHead(from > 0 ? 206 : 200, shown)
    const length = pieces[turn] ?? rest.length
    if (length >= rest.length) response.end(rest)
    else response.write(rest.slice(0, length), () => response.destroy())
  }
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/talk.mp3`
  const fetched = fetchUrl(url, (body) => text(body), {
    signal: new AbortController().signal,
    timeout: 30,
    maxBytes: 1000,
    allowPrivateNetwork: 'all',
    resolve: createResolver(),
    account: 'acme',
  })
  return { ranges, fetched }
}

test('a recording whose connection breaks off is continued from there', async (t) => {
  for (const headers of [{ etag: '"1"' }, { 'last-modified': 'Sat, 28 Nov 2026 01:02:03 GMT' }]) {
    const { ranges, fetched } = await fetchFrom(t, { pieces: [6, 5], headers: () => headers })
    assert.equal(await fetched, SOUND)
    assert.deepEqual(ranges, [undefined, 'bytes=6-', 'bytes=11-'])
  }
})

test('a recording that changed, or that has no version, is not continued', async (t) => {
  const brokenOff = { code: 'source_unreachable', message: /the connection broke off$/ }
  const changes = (turn: number) => ({ etag: `"${turn}"` })
  const changed = await fetchFrom(t, { pieces: [6], headers: changes })
  await assert.rejects(changed.fetched, brokenOff)
  assert.equal(changed.ranges.length, 2)
  for (const headers of [{}, { etag: 'W/"1"' }]) {
    const { ranges, fetched } = await fetchFrom(t, { pieces: [6], headers: () => headers })
    await assert.rejects(fetched, brokenOff)
    assert.equal(ranges.length, 1)
  }
})

test('a source whose connections bring nothing more, or break off too often, fails', async (t) => {
  const headers = () => ({ etag: '"1"' })
  const brokenOff = { code: 'source_unreachable', message: /the connection broke off$/ }
  const stuck = await fetchFrom(t, { pieces: [6, 0, 0], headers })
  await assert.rejects(stuck.fetched, brokenOff)
  assert.equal(stuck.ranges.length, 2)
  const often = await fetchFrom(t, { pieces: Array(20).fill(1), headers })
  await assert.rejects(often.fetched, brokenOff)
  assert.equal(often.ranges.length, 6)
})
