import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  type Responder,
  refuse,
  sendPart,
  serveNormally,
  startModelServer,
} from '../../../test/support/asr/model-server.ts'
import { createDownloadClient, type Download, downloadFile } from './download.ts'
import { DownloadError, statusError } from './download-error.ts'

const limits = { stallMs: 10_000, minBytes: 1000, tries: 3, pauseMs: 5 }
const hasty = { ...limits, stallMs: 300 }
const folder = mkdtempSync(join(tmpdir(), 'steno-download-'))
const path = join(folder, 'weights')
const content = Buffer.from(Uint32Array.from({ length: 100_000 }, (_, i) => i * 2654435761).buffer)
const sha256 = createHash('sha256').update(content).digest('hex')
const server = await startModelServer()
const client = await createDownloadClient(limits)
const hastyClient = await createDownloadClient(hasty)
after(async () => {
  await client.destroy()
  await hastyClient.destroy()
  await server.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  server.files.clear()
  server.files.set('/weights', content)
  server.next.length = 0
  server.seen.length = 0
  server.arrived = () => Number.POSITIVE_INFINITY
  rmSync(path, { force: true })
  rmSync(`${path}.part`, { force: true })
})

/** Downloads the file from a server that treats the first requests in these manners. */
async function download(
  manners: readonly Responder[],
  { isHasty = false, ...change }: Partial<Download> & { isHasty?: boolean } = {},
) {
  server.next.push(...manners)
  const reported = { bytes: [] as number[], retries: [] as string[] }
  server.arrived = () => reported.bytes.at(-1) ?? 0
  const file = { url: `${server.url}/weights`, headers: {}, bytes: content.length, sha256, path }
  await downloadFile(
    { ...file, ...change },
    {
      client: isHasty ? hastyClient : client,
      limits: isHasty ? hasty : limits,
      signal: AbortSignal.timeout(60_000),
      onBytes: (bytes) => void reported.bytes.push(bytes),
      onRetry: (problem) => void reported.retries.push(problem),
    },
  )
  assert.ok(readFileSync(path).equals(content), 'the file is whole')
  assert.equal(existsSync(`${path}.part`), false)
  assert.equal(reported.bytes.at(-1), content.length)
  return reported
}

function ranges() {
  return server.seen.map(({ range }) => range)
}

test('a file is downloaded completely and leaves no partial file', async () => {
  const { retries } = await download([])
  assert.deepEqual([retries, ranges()], [[], [undefined]])
})

test('a broken connection is resumed at the byte where it broke', async () => {
  const { retries } = await download([sendPart(150_000, 'cut'), sendPart(100_000, 'cut')])
  assert.equal(retries.length, 2)
  const [first, second, third] = ranges()
  assert.deepEqual([first, server.seen.length], [undefined, 3])
  assert.match(second!, /^bytes=\d+-$/)
  assert.match(third!, /^bytes=\d+-$/)
  assert.ok(Number(third!.slice(6, -1)) > 200_000)
})

test('connections that make progress do not count as failures', async () => {
  const cuts = Array.from({ length: 5 }, () => sendPart(70_000, 'cut'))
  await download(cuts)
  assert.equal(server.seen.length, 6)
})

test('a stalled connection is aborted and resumed', async () => {
  const { retries } = await download([sendPart(100_000, 'stall'), sendPart(0, 'stall')], {
    isHasty: true,
  })
  assert.deepEqual(retries, ['it sent nothing more', 'it sent nothing more'])
})

test('a connection that is too slow counts as stalled', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const trickle: Responder = (response, { content: whole }) => {
    response.writeHead(200, { 'content-length': whole.length })
    response.on('error', () => {})
    let at = 0
    const more = () => {
      if (response.destroyed) return
      response.write(whole.subarray(at, at + 1))
      at++
      now += limits.stallMs
      setTimeout(more, 5)
    }
    more()
  }
  const tooSlow = `fewer than ${limits.minBytes} bytes came in ${limits.stallMs / 1000} s`
  const { retries } = await download([trickle])
  assert.deepEqual(retries, [tooSlow])
  rmSync(path)
  await assert.rejects(download([trickle, trickle, trickle]), new RegExp(tooSlow))
})

test('a server that never responds is abandoned with the reason', async () => {
  const silent: Responder = () => {}
  await assert.rejects(download([silent, silent, silent], { isHasty: true }), /it did not answer/)
})

test('a partial file of an earlier process is verified and completed', async () => {
  writeFileSync(`${path}.part`, content.subarray(0, 123_457))
  const { bytes } = await download([])
  assert.deepEqual([ranges(), bytes[0]], [['bytes=123457-'], 123_457])
})

test('a complete partial file is only verified', async () => {
  writeFileSync(`${path}.part`, content)
  await download([])
  assert.deepEqual(server.seen, [])
})

test('a damaged or oversized partial file is downloaded again', async () => {
  const damaged = Buffer.from(content.subarray(0, 1000))
  damaged[10]! ^= 1
  writeFileSync(`${path}.part`, damaged)
  await download([])
  assert.deepEqual(ranges(), ['bytes=1000-', undefined])
  rmSync(path)
  writeFileSync(`${path}.part`, Buffer.concat([content, content]))
  await download([])
})

test('without range support the whole file is downloaded again', async () => {
  const ignore: Responder = (response, asked) => serveNormally(response, { ...asked, offset: 0 })
  await download([sendPart(100_000, 'cut'), ignore])
  assert.equal(server.seen.length, 2)
})

test('a server that always restarts and makes no progress is abandoned', async () => {
  const ignore: Responder = (response, asked) =>
    sendPart(100_000, 'cut')(response, { ...asked, offset: 0 })
  const manners = Array.from({ length: 10 }, () => ignore)
  await assert.rejects(download(manners), /the connection broke off/)
  assert.equal(server.seen.length, 3)
  server.next.length = 0
  const refused = Array.from({ length: 5 }, () => [sendPart(100_000, 'cut'), refuse(416)]).flat()
  await assert.rejects(download(refused), /the connection broke off/)
  assert.equal(server.seen.length, 6)
})

test('a truncated response is reported with its size', async () => {
  const short: Responder = (response, { content: whole, offset }) => {
    const range = `bytes ${offset}-${whole.length - 1}/${whole.length}`
    response.writeHead(offset > 0 ? 206 : 200, { 'content-range': range })
    response.end(whole.subarray(offset, 100_000))
  }
  const { retries } = await download([short])
  assert.deepEqual(retries, ['it ended after 100000 of 400000 bytes'])
})

test('a web page instead of the file is rejected and not stored', async () => {
  const page = (headers: Record<string, number>): Responder => {
    return (response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
      response.end('<p>Please sign in</p>')
    }
  }
  for (const headers of [{ 'content-length': 21 }, {}]) {
    await assert.rejects(download([page(headers)]), /a web page in place of the file; .*MIRROR/)
    assert.equal(existsSync(`${path}.part`), false)
  }
  assert.equal(server.seen.length, 2)
  const misnamed: Responder = (response, { content: whole }) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': whole.length })
    response.end(whole)
  }
  await download([misnamed])
})

test('an unrequested compressed response is rejected and not stored', async () => {
  const packed: Responder = (response, { content: whole }) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(gzipSync(whole))
  }
  await assert.rejects(download([packed]), /compresses it \(gzip\), which changes its bytes/)
  assert.equal(existsSync(`${path}.part`), false)
})

test('a response with another range is rejected', async () => {
  const shifted: Responder = (response, { content: whole, offset }) => {
    const from = offset - 10
    const range = `bytes ${from}-${whole.length - 1}/${whole.length}`
    response.writeHead(206, { 'content-range': range })
    response.end(whole.subarray(from))
  }
  const { retries } = await download([sendPart(100_000, 'cut'), shifted])
  assert.match(retries[1]!, /different range/)
  assert.equal(ranges()[2], undefined)
})

test('a rejected range restarts the download', async () => {
  await download([sendPart(100_000, 'cut'), refuse(416)])
  assert.equal(ranges()[2], undefined)
})

test('a wrong content length is rejected', async () => {
  const announce = (bytes: number): Responder => {
    return (response) => void response.writeHead(200, { 'content-length': bytes }).write('x')
  }
  const liar = announce(content.length + 1)
  await assert.rejects(download([liar, liar, liar]), /announces 400001 bytes, the catalog names/)
  const short = announce(5)
  await assert.rejects(download([short, short, short]), /announces 5 bytes, the catalog names/)
  await download([liar])
})

test('an oversized body is aborted and discarded', async () => {
  const endless: Responder = (response, { content: whole }) => {
    response.writeHead(200)
    response.on('error', () => {})
    const more = () => void (response.destroyed || response.write(whole, more))
    more()
  }
  await assert.rejects(download([endless, endless, endless]), /it is larger than the 400000 bytes/)
  assert.equal(existsSync(`${path}.part`), false)
})

test('a file with a wrong hash is discarded', async () => {
  const change: Responder = (response, asked) => {
    const changed = Buffer.from(asked.content)
    changed[399_999]! ^= 1
    serveNormally(response, { ...asked, content: changed })
  }
  await download([change])
  rmSync(path)
  // What is fetched again after that counts as progress.
  const cuts = Array.from({ length: 5 }, () => sendPart(70_000, 'cut'))
  await download([sendPart(350_000, 'cut'), change, ...cuts])
  rmSync(path)
  await assert.rejects(download([change, change, change]), /its SHA-256 is not that of the catalog/)
  assert.equal(existsSync(path) || existsSync(`${path}.part`), false)
})

test('transient statuses are retried, others are not', async () => {
  await download([refuse(500), refuse(429)])
  rmSync(path)
  const error = await download([refuse(403)]).catch((one: DownloadError) => one)
  assert.ok(error instanceof DownloadError)
  assert.match(error.message, /the server responds with 403; access is refused: .* HF_TOKEN/)
  assert.equal(server.seen.length, 4)
  await assert.rejects(download([], { url: `${server.url}/gone` }), /responds with 404; .*MIRROR/)
  await assert.rejects(download([refuse(503), refuse(503), refuse(503)]), /responds with 503$/)
})

test('Retry-After delays the next attempt, by seconds or until a date', async () => {
  const startedAt = performance.now()
  await download([refuse(429, { 'retry-after': '1' })])
  assert.ok(performance.now() - startedAt >= 990)
  const date = new Date(Date.now() + 20_000).toUTCString()
  const { retryAfterMs = 0 } = statusError(503, date)
  assert.ok(retryAfterMs > 10_000 && retryAfterMs <= 20_000, `${retryAfterMs} ms`)
  assert.equal(statusError(503, 'soon').retryAfterMs, undefined)
})

test('an unavailable server is reported in words', async () => {
  await assert.rejects(
    download([], { url: 'http://127.0.0.1:1/weights' }),
    /nothing listens at the address/,
  )
})

test('proxy settings of the environment are used', async (t) => {
  const asked: string[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url!)
    response.end(content)
  })
  proxy.on('connect', ({ url }, socket) => {
    asked.push(url!)
    const { port } = new URL(server.url)
    const tunnel = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      tunnel.pipe(socket).pipe(tunnel)
    })
    for (const end of [tunnel, socket]) end.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  process.env.http_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const behind = await createDownloadClient(limits)
  t.after(async () => {
    delete process.env.http_proxy
    await behind.destroy()
    proxy.closeAllConnections()
    proxy.close()
  })
  const url = 'http://models.invalid/weights'
  const file = { url, headers: {}, bytes: content.length, sha256, path }
  const { signal } = new AbortController()
  await downloadFile(file, { client: behind, limits, signal, onBytes() {}, onRetry() {} })
  assert.match(asked.join(), /models\.invalid/)
})

test('the token is sent only to the first origin', async (t) => {
  const other = createServer((_, response) => {
    response.writeHead(302, { location: `${server.url}/weights` }).end()
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close())
  const { port } = other.address() as AddressInfo
  const headers = { authorization: 'Bearer secret' }
  await download([], { url: `http://127.0.0.1:${port}/weights`, headers })
  assert.equal(server.seen[0]!.authorization, undefined)
  rmSync(path)
  await download([refuse(307, { location: '/weights' })], { headers })
  assert.deepEqual(
    server.seen.slice(1).map(({ authorization }) => authorization),
    ['Bearer secret', 'Bearer secret'],
  )
  const loop = Array.from({ length: 6 }, () => refuse(302, { location: '/weights' }))
  await assert.rejects(download(loop), /redirects more than 5 times/)
  for (const location of ['file:///weights', 'http://[']) {
    server.seen.length = 0
    await assert.rejects(download([refuse(302, { location })]), /redirects to an address .*MIRROR/)
    assert.equal(server.seen.length, 1)
  }
})

test('an aborted download keeps its partial file', async () => {
  const aborted = new AbortController()
  server.next.push(sendPart(100_000, 'stall'))
  const file = { url: `${server.url}/weights`, headers: {}, bytes: content.length, sha256, path }
  const onBytes = (bytes: number) => void (bytes > 50_000 && aborted.abort())
  const options = { client, limits, signal: aborted.signal, onBytes, onRetry() {} }
  await assert.rejects(downloadFile(file, options), { name: 'AbortError' })
  assert.ok(readFileSync(`${path}.part`).length > 50_000)
  await download([])
})
