import assert from 'node:assert/strict'
import fc from 'fast-check'
import { requestRaw } from '../../../test/support/api/hostile-requests.ts'
import { createToneWav } from '../../../test/support/audio/recordings.ts'
import { upload } from '../../../test/support/net/http-client.ts'
import { startServer } from '../../../test/support/server/start-server.ts'
import { mutated } from '../../mutations.ts'
import { fuzz } from '../../run.ts'

const server = await startServer({ env: { STENO_CORS_ORIGINS: 'https://a.example' } })
const file = new URL(await upload(server, createToneWav(0.1))).pathname
const paths = [file, file, '/v2/capabilities', '/v2/pre-recorded?limit=1', '/dashboard', '/']

/** Every header that the server reads, but those of a body: it would wait for one. */
const lines = [
  'range: bytes=0-99\r\nif-range: "x"',
  'range: bytes=5-, 7-9,-3',
  'if-none-match: W/"a", "b", *\r\nif-modified-since: Wed, 21 Oct 2026 07:28:00 GMT',
  'cookie: a=b; steno=0123456789abcdef; c="d e"\r\nx-csrf-token: x\r\norigin: https://a.example',
  'authorization: Bearer a.b.c',
  'authorization: Basic YTpi\r\nx-api-key: k',
  'accept: text/html;q=0.5, */*;q=0.1\r\naccept-encoding: br;q=1, gzip;q=0, *\r\naccept-language: de',
  'x-forwarded-for: 1.2.3.4, ::1\r\nx-forwarded-host: a.example:80\r\nx-forwarded-proto: https',
  'x-forwarded-prefix: /p\r\nforwarded: for="[::1]:1";host=b;proto=http',
  'idempotency-key: k-1\r\nlast-event-id: 7\r\nopenai-beta: realtime=v1',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\ntracestate: a=b\r\nbaggage: c=d',
  'sec-websocket-protocol: realtime, openai-insecure-api-key.k\r\nx-request-id: r',
].map((line) => Buffer.from(line))

const asked = fc.record({
  path: fc.constantFrom(...paths),
  hasKey: fc.boolean(),
  head: mutated(lines),
})

const known = new Set([200, 204, 206, 302, 304, 400, 401, 403, 404, 405, 406, 416, 429, 431])

/** Control characters stay, but no blank line: what follows one is another request or a body. */
function withoutEnd(bytes: Buffer): string {
  const text = bytes.toString('latin1').slice(0, 20_000)
  return text
    .replace(/\r?\n\r?(?=\n)|^\s+|\s+$/g, '')
    .replace(/content-length|transfer-enc|upgrade|expect/gi, 'x')
}

await fuzz('headers', asked, async ({ path, hasKey, head }) => {
  const key = hasKey ? `x-service-key: ${server.key}\r\n` : ''
  const start = `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${key}`
  const { status, headers } = await requestRaw(server, `${start}${withoutEnd(head)}\r\n\r\n`)
  assert.ok(known.has(status), `answered ${status}`)
  for (const [name, value] of headers) assert.match(`${name}: ${value}`, /^[\x20-\x7e]+$/)
})
await server.close()
