import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import timers from 'node:timers/promises'
import { promisify } from 'node:util'
import { createClient } from './client.ts'
import { RequestError } from './transport.ts'

/** Creates a client of a server that responds as `listener` does. */
async function clientOf(vad: RequestListener, t: TestContext) {
  const server = createServer(vad).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createClient({ url: `${url}/`, key: 'secret', header: 'x-key' }, t.signal)
}

test('client sends the key in the configured header', async (t) => {
  let seen: unknown
  const client = await clientOf((request, response) => {
    seen = [request.headers['x-key'], request.url]
    response.end('{"items":[],"next":null}')
  }, t)
  await client.list({ offset: 2, limit: 3 })
  assert.deepEqual(seen, ['secret', '/v2/pre-recorded?offset=2&limit=3'])
})

test("client reports the server's error with its validation errors", async (t) => {
  const client = await clientOf((_request, response) => {
    response.statusCode = 400
    response.end('{"message":"Invalid","validation_errors":["audio_url is required"]}')
  }, t)
  const error = new RequestError('Invalid\naudio_url is required', { status: 400 })
  await assert.rejects(client.create({}), error)
})

test('client reports a contradiction once: the message holds what the lines say', async (t) => {
  const client = await clientOf((_request, response) => {
    response.statusCode = 422
    response.end('{"message":"Contradictory: a, b","validation_errors":["a","b"]}')
  }, t)
  const error = new RequestError('Contradictory: a, b', { status: 422 })
  await assert.rejects(client.create({}), error)
})

test('client explains how to provide a missing key', async (t) => {
  const client = await clientOf((_request, response) => {
    response.statusCode = 401
    response.end('{"message":"Cannot accept the key"}')
  }, t)
  await assert.rejects(
    client.find('x'),
    /Cannot accept the key \(give it with --key or STENO_KEY\)/,
  )
})

test('client reports the status of a response that is not JSON', async (t) => {
  const client = await clientOf((_request, response) => {
    response.statusCode = 502
    response.end('<html>')
  }, t)
  await assert.rejects(client.find('x'), /The server responded with 502 Bad Gateway/)
})

test('client retries while the server is busy', async (t) => {
  let requests = 0
  const client = await clientOf((_request, response) => {
    response.statusCode = ++requests === 1 ? 503 : 201
    response.end('{"id":"7"}')
  }, t)
  assert.equal(await client.create({}), '7')
})

test('client continues waiting for a job after a broken connection', async (t) => {
  let requests = 0
  const client = await clientOf((request, response) => {
    if (++requests === 1) request.socket.destroy()
    else response.end('{"id":"7","status":"done"}')
  }, t)
  assert.equal((await client.wait('7', () => {})).id, '7')
})

test('client explains how to start a server if none is running', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await promisify(server.close.bind(server))()
  const client = createClient({ url, key: 'secret', header: 'x-key' }, t.signal)
  await assert.rejects(
    client.find('7'),
    /nothing listens at the address \(ECONNREFUSED\); start one with '.*steno serve', or name/,
  )
})

test('client does not retry other requests after a broken connection', async (t) => {
  let requests = 0
  const client = await clientOf((request) => {
    requests++
    request.socket.destroy()
  }, t)
  await assert.rejects(client.create({}), /Cannot reach the server at http:/)
  await assert.rejects(client.find('7'), /Cannot reach the server at http:/)
  assert.equal(requests, 2)
})

test('client asks whether the address is right if another service responds', async (t) => {
  const question = /is the address that of a Steno server\?$/
  for (const [status, body] of [
    [200, '<html>'],
    [404, '<html>'],
    [200, ''],
    [200, 'null'],
    [200, '{}'],
    [200, '"ok"'],
    [200, '[7]'],
  ] as const) {
    const client = await clientOf((_, response) => {
      response.writeHead(status).end(body)
    }, t)
    const page = { offset: 0, limit: 1 }
    const requests = [
      () => client.find('7'),
      () => client.list(page),
      () => client.create({}),
      () => client.cancel('7'),
      () => client.remove('7'),
      () => client.search({ q: 'a', ...page }),
      () => client.transcript('7', 'txt', { edited: true }),
      () => client.transcriptEdits('7'),
      () => client.retryAddOn('7', 'subtitles'),
      () => client.usage({}),
      () => client.wait('7', () => {}),
      () => client.upload({ filename: 'a', open: async () => Readable.from(['a']) }),
      () => client.createLive({}),
      () => client.findLive('7'),
      () => client.listDeliveries(page),
      () => client.findDelivery('7'),
      () => client.resendDelivery('7'),
      () => client.resendFailed({ since: '2026-01-01' }),
      () => client.testWebhook('7'),
    ]
    for (const request of requests) await assert.rejects(request, question, String(request))
  }
})

test('client asks whether the address is right if the capabilities are no object', async (t) => {
  for (const body of ['<html>', '', 'null', '"ok"', '[]']) {
    const client = await clientOf((_, response) => response.end(body), t)
    await assert.rejects(client.capabilities(), /is the address that of a Steno server\?$/)
  }
  const old = await clientOf((_, response) => response.end('{}'), t)
  assert.deepEqual(await old.capabilities(), {})
})

test('client returns the results of a retried add-on, also files of subtitles', async (t) => {
  for (const body of [{ success: false, error: {} }, [], [{ format: 'srt', subtitles: '1' }]]) {
    const client = await clientOf((_, response) => response.end(JSON.stringify(body)), t)
    assert.deepEqual(await client.retryAddOn('7', 'subtitles'), body)
  }
})

test('client returns the bytes of a transcript', async (t) => {
  const client = await clientOf((_, response) => {
    response.setHeader('content-disposition', 'attachment; filename="a.txt"').end('text')
  }, t)
  assert.equal(String(await client.transcript('7', 'txt', { edited: true })), 'text')
})

test('client streams a file as a multipart form', async (t) => {
  let form = ''
  const client = await clientOf(async (request, response) => {
    form = await text(request)
    response.end('{"audio_url":"http://x/file/1"}')
  }, t)
  const open = async () => Readable.from([Buffer.from('so'), Buffer.from('und')])
  const url = await client.upload({ filename: 'a"b\r\n.mp3', open })
  assert.equal(url, 'http://x/file/1')
  assert.match(
    form,
    /^--(\S+)\r\ncontent-disposition: form-data; name="audio"; filename="a%22b%0D%0A.mp3"\r\n/,
  )
  assert.match(form, /\r\n\r\nsound\r\n--\S+--\r\n$/)
})

test('client uploads a recording again in full after the server was busy', async (t) => {
  const forms: string[] = []
  const client = await clientOf(async (request, response) => {
    forms.push(await text(request))
    response.statusCode = forms.length === 1 ? 429 : 200
    response.end('{"audio_url":"http://x/file/1"}')
  }, t)
  const open = async () => Readable.from([Buffer.from('sound')])
  assert.equal(await client.upload({ filename: 'a.mp3', open }), 'http://x/file/1')
  assert.deepEqual(
    forms.map((form) => form.includes('\r\n\r\nsound\r\n')),
    [true, true],
  )
})

test('client waits until a job has ended and reports its status', async (t) => {
  const statuses = ['queued', 'processing', 'error']
  const client = await clientOf((request, response) => {
    const progress = request.url?.endsWith('/progress?wait=1')
    response.end(JSON.stringify({ id: '7', status: progress ? statuses.shift() : 'error' }))
  }, t)
  const seen: string[] = []
  const job = await client.wait('7', ({ status }) => seen.push(status))
  assert.deepEqual([seen, job.status], [['queued', 'processing'], 'error'])
})

test('client polls less often the more jobs it waits for', async (t) => {
  const waits: string[] = []
  const client = await clientOf((request, response) => {
    if (request.url?.includes('/progress')) waits.push(request.url.split('wait=')[1]!)
    response.end('{"id":"7","status":"done"}')
  }, t)
  await Promise.all(Array.from({ length: 40 }, () => client.wait('7', () => {})))
  await client.wait('7', () => {})
  assert.deepEqual([waits[0], Math.max(...waits.map(Number)), waits.at(-1)], ['1', 5, '1'])
})

test('client polls again at once after a late response', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const pauses = t.mock.method(timers, 'setTimeout', async () => {})
  syncBuiltinESMExports()
  const statuses = ['processing', 'done']
  const client = await clientOf((request, response) => {
    now += 1000
    const status = request.url?.includes('/progress') ? statuses.shift() : 'done'
    response.end(JSON.stringify({ id: '7', status }))
  }, t)
  await client.wait('7', () => {})
  pauses.mock.restore()
  syncBuiltinESMExports()
  assert.equal(pauses.mock.callCount(), 0)
})

test('client says in words that a server does not answer', async (t) => {
  const client = await clientOf(() => {}, t)
  const cause = Object.assign(new Error('Headers Timeout Error'), {
    code: 'UND_ERR_HEADERS_TIMEOUT',
  })
  t.mock.method(globalThis, 'fetch', () => Promise.reject(new TypeError('failed', { cause })))
  await assert.rejects(
    client.usage({}),
    /^RequestError: Cannot reach .*: it did not answer \(UND_ERR_HEADERS_TIMEOUT\)$/,
  )
})

test('client says why an address cannot be one', async (t) => {
  const client = createClient({ url: 'http://127.0.0.1:1', key: '', header: 'x-key' }, t.signal)
  await assert.rejects(client.usage({}), /^RequestError: Cannot reach .*: bad port$/)
})

test('isRunning is false for a server that never answers', { timeout: 20_000 }, async (t) => {
  const { timeout } = AbortSignal
  t.mock.method(AbortSignal, 'timeout', () => timeout(50))
  const client = await clientOf(() => {}, t)
  assert.equal(await client.isRunning(), false)
})

test('isRunning is true for a healthy server and false if none is listening', async (t) => {
  const healthy = await clientOf((_request, response) => {
    response.end('{"items":[]}')
  }, t)
  const gone = createClient(
    { url: 'http://127.0.0.1:1', key: undefined, header: 'x-key' },
    t.signal,
  )
  assert.deepEqual([await healthy.isRunning(), await gone.isRunning()], [true, false])
})
