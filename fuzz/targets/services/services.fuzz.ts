import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../../src/config/config.ts'
import { createSender } from '../../../src/delivery/http/sender.ts'
import { AppError } from '../../../src/errors.ts'
import { fetchUrl } from '../../../src/jobs/fetching/fetch-url.ts'
import { createApertium } from '../../../src/language-services/apertium/apertium.ts'
import { ServiceError } from '../../../src/language-services/service-error.ts'
import type { Resolve } from '../../../src/net/dns/resolver.ts'
import { createServiceClient } from '../../../src/net/service-client.ts'
import { createS3 } from '../../../src/storage/objects/s3/s3-client.ts'
import { findKeys, withKey } from '../../../src/storage/objects/s3/s3-keys.ts'
import { openRead } from '../../../src/storage/objects/s3/s3-read.ts'
import { fuzzBytes } from '../../guided.ts'

const { signal } = new AbortController()
const SIGNING = 'whsec_c2VjcmV0LXRoYXQtaXMtbG9uZw=='
/** The credentials of a receiver's URL as it gets them in a header, and may send them back. */
const SECRET = Buffer.from('user:long-password').toString('base64')
const ID = '0b8c2c0e-7d1d-4f4e-9a35-0f6d6f1f6b11'

/** Answers every request with these bytes. */
let response: Buffer = Buffer.alloc(0)
const service = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => socket.end(response))
})
service.listen(0, '127.0.0.1')
await new Promise((resolve) => service.once('listening', resolve))
const { port } = service.address() as { port: number }
const url = `http://127.0.0.1:${port}`

const receiver = url.replace('//', '//user:long-password@')

/** Stands in for the translator, and prints what the fuzzer made. */
const folder = mkdtempSync(join(tmpdir(), 'steno-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const [program, printed] = [join(folder, 'apertium'), join(folder, 'printed')]
writeFileSync(program, `#!/bin/sh\nexec cat ${printed}\n`, { mode: 0o755 })
const apertium = createApertium(program, {})

const seeds = {
  translator: [
    'Qxbq spoke with Qxcq.\n\nQxbq and 1,250 .',
    '  eng-spa\n  nob-nno\n  eng-cat_valencia\n',
  ],
  model: [
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 17\r\n\r\n{"choices":[{}]} ',
  ],
  receiver: [
    'HTTP/1.1 410 Gone\r\nretry-after: 120\r\ncontent-length: 4\r\n\r\nbye\n',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx-echo: ${SECRET}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2/\r\n\r\n',
  ],
  source: [
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: audio/wav\r\n\r\nRIFF!',
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-encoding: br\r\n\r\nRIFF!',
    'HTTP/1.1 301 Moved\r\nlocation: //127.0.0.1:1/x\r\ncontent-length: 0\r\n\r\n',
  ],
  objects: [
    `HTTP/1.1 200 OK\r\ncontent-type: application/xml\r\n\r\n<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><Contents><Key>objects/0b/${ID}</Key><Size>5</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents></ListBucketResult>`,
    'HTTP/1.1 404 Not Found\r\ncontent-type: application/xml\r\n\r\n<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>no</Message></Error>',
    'HTTP/1.1 206 Partial\r\ncontent-range: bytes 0-4/9\r\netag: "x"\r\ncontent-length: 5\r\n\r\nhello',
  ],
}

const client = createServiceClient({ url, apiKey: 'key', pauseMs: 1 })
const config = readConfig({ STENO_ALLOW_PRIVATE_NETWORK: 'true' })
const resolve: Resolve = (_host, _options, callback) => {
  callback(null, [{ address: '127.0.0.1', family: 4 }])
}
const sender = createSender({ config, resolve })
process.env.AWS_ACCESS_KEY_ID = 'id'
process.env.AWS_SECRET_ACCESS_KEY = 'secret'
const s3 = await createS3({
  bucket: 'b',
  prefix: '',
  endpoint: url,
  region: 'us-east-1',
  pathStyle: true,
  encryption: undefined,
  kmsKey: undefined,
  cacheBytes: 0,
  startSeconds: 1,
})
// Each further attempt would get the same answer.
s3.client.config.maxAttempts = async () => 1

async function isKnown(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof AppError, (error as Error).stack)
    assert.ok(error.message.length < 500, error.message)
  }
}

const checks = {
  async translator() {
    writeFileSync(printed, response)
    const texts = ['[NAME_1] spoke with [NAME_2].', '[NAME_1] and 1,250.']
    const task = { pair: 'eng-spa', target: 'es', texts }
    const translated = await apertium.translate(task, { signal }).catch((error: unknown) => {
      assert.ok(error instanceof ServiceError, (error as Error).stack)
    })
    const markers = translated?.map((text) => text.match(/\[NAME_\d\]/g)?.sort())
    if (markers) assert.deepEqual(markers, [['[NAME_1]', '[NAME_2]'], ['[NAME_1]']])
    for (const [pair, name] of await apertium.pairs({ signal })) {
      assert.match(`${pair} ${name}`, /^[a-z]{2,3}-[a-z]{2,3} [a-z]{2,3}-[a-z]{2,3}$/)
    }
  },
  async model() {
    const request = { path: '/x', contentType: 'a/b', body: Buffer.from('{}'), timeout: 5 }
    const found = await client.post({ ...request, signal, tries: 1 })
    if ('problem' in found) assert.ok(found.problem.length < 500, found.problem)
    else assert.ok(found.status >= 200 && found.status < 500)
  },
  async receiver() {
    const delivery = { id: ID, account: 'acme', method: 'POST' as const, url: receiver }
    const body = {
      bytes: 2,
      async *chunks() {
        yield Buffer.from('{}')
      },
    }
    const attempt = { delivery, body, secrets: [SIGNING], signal }
    const { status, error, responseBody, responseHeaders } = await sender.send(attempt)
    assert.ok((status === null) === (error !== null))
    assert.ok((responseBody ?? '').length <= 1024)
    const logged = JSON.stringify([error, responseBody, responseHeaders])
    assert.ok(!logged.includes(SECRET) && logged.length < 20_000, logged)
  },
  async source() {
    const options = { signal, timeout: 5, maxBytes: 1000, account: 'acme', resolve }
    const store = async (body: AsyncIterable<Uint8Array>) => {
      let bytes = 0
      for await (const part of body) bytes += part.length
      return bytes
    }
    await isKnown(fetchUrl(url, store, { ...options, allowPrivateNetwork: 'all' }))
  },
  async objects() {
    await isKnown(findKeys(s3, 'objects', ID))
    const open = withKey(s3, ID, (key) => openRead(s3, key, undefined))
    await isKnown(open.then(({ body }) => body.destroy()))
  },
}

const bytesOf = (texts: string[]) => texts.map((text) => Buffer.from(text))
await fuzzBytes(
  'services',
  {
    translator: bytesOf(seeds.translator),
    model: bytesOf(seeds.model),
    receiver: bytesOf(seeds.receiver),
    source: bytesOf(seeds.source),
    objects: bytesOf(seeds.objects),
  },
  async (bytes, kind) => {
    response = bytes
    await checks[kind]()
  },
)
await client.close()
sender.close()
s3.client.destroy()
service.close()
