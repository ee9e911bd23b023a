import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { readResponseExcerpt } from './response-excerpt.ts'

const soon = { timeout: 30_000 }

function excerptOf(...chunks: (string | Buffer)[]): Promise<string> {
  return readResponseExcerpt(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), soon)
}

test('a short response is kept completely', async () => {
  assert.equal(await excerptOf('thank', ' you'), 'thank you')
  assert.equal(await excerptOf(), '')
})

test('the excerpt is the first kilobyte, without a partial character', async () => {
  assert.equal(await excerptOf('a'.repeat(600), 'b'.repeat(600)), 'a'.repeat(600) + 'b'.repeat(424))
  assert.equal(await excerptOf('a'.repeat(1022), '🎙'.repeat(9)), 'a'.repeat(1022))
})

test('invalid UTF-8 is replaced, also at the end', async () => {
  assert.equal(await excerptOf(Buffer.from([0x61, 0xff, 0x62, 0x00])), 'a\ufffdb\ufffd')
  assert.equal(await excerptOf(Buffer.from([0x61, 0xf0, 0x9f])), 'a\ufffd')
})

test('an endless response is aborted after 64 KB', async () => {
  let bytes = 0
  const endless = new Readable({
    read() {
      bytes += 1024
      this.push(Buffer.alloc(1024, 'x'))
    },
  })
  assert.equal(await readResponseExcerpt(endless, soon), 'x'.repeat(1024))
  assert.ok(endless.destroyed)
  // What the stream had read ahead comes on top.
  assert.ok(bytes > 65_536 && bytes < 200_000, `${bytes} bytes were read`)
})

test('a response under 64 KB is read to its end so that its connection is reused', async () => {
  const body = Readable.from(Array.from({ length: 60 }, () => Buffer.alloc(1024, 'x')))
  await readResponseExcerpt(body, soon)
  assert.ok(body.readableEnded)
})

test('a stalled response is aborted after a timeout', async () => {
  const stalled = new Readable({ read() {} })
  stalled.push('a start')
  assert.equal(await readResponseExcerpt(stalled, { timeout: 20 }), 'a start')
  assert.ok(stalled.destroyed)
})

test('an interrupted response yields the bytes received', async () => {
  async function* breaksOff() {
    yield Buffer.from('a start')
    throw new Error('the connection broke off')
  }
  assert.equal(await readResponseExcerpt(Readable.from(breaksOff()), soon), 'a start')
})
