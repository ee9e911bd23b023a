import assert from 'node:assert/strict'
import test from 'node:test'
import { readEvents, writeEvent } from './events.ts'

async function read(bytes: Buffer, partSize = bytes.length) {
  async function* parts() {
    for (let at = 0; at < bytes.length; at += partSize) yield bytes.subarray(at, at + partSize)
  }
  return Array.fromAsync(readEvents(parts()))
}

test('the reader parses events from chunks of any size and merges their data', async () => {
  const fields = { data: { rate: 1, width: 2 }, data_length: 11, payload_length: 3 }
  const header = JSON.stringify({ type: 'audio-chunk', ...fields })
  const one = Buffer.from(`${header}\n{"rate":16}\n\0{`)
  const all = Buffer.concat([one, writeEvent('transcript', { text: 'Grüße' }), writeEvent('ping')])
  for (const size of [1, 7, all.length]) {
    const events = await read(all, size)
    assert.deepEqual(
      events.map(({ type, data, payload }) => [type, data, payload.toString()]),
      [
        ['audio-chunk', { rate: 16, width: 2 }, '\n\0{'],
        ['transcript', { text: 'Grüße' }, ''],
        ['ping', {}, ''],
      ],
    )
  }
})

test('a stream that ends within an event yields the events before it', async () => {
  const all = Buffer.concat([writeEvent('ping'), writeEvent('transcript', { text: 'x' })])
  const events = await read(all.subarray(0, -1))
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ping'],
  )
})

test('a malformed or oversized event ends the reading with an error', async () => {
  const problems: [string, RegExp][] = [
    ['GET / HTTP/1.1\n', /not JSON/],
    ['[]\n', /not an object/],
    ['{}\n', /no type/],
    ['{"type":"a","payload_length":-1}\n', /payload_length is not a length/],
    ['{"type":"a","data_length":"9"}\n', /data_length is not a length/],
    ['{"type":"a","payload_length":1048577}\n', /payload_length is more than 1048576/],
    ['{"type":"a","data_length":262145}\n', /data_length is more/],
    ['{"type":"a","data_length":2}\n7 ', /not an object/],
    ['a'.repeat(65_537), /longer than 65536/],
    [`${'a'.repeat(65_537)}\n`, /longer than 65536/],
  ]
  for (const [text, expected] of problems) {
    for (const size of [1000, undefined]) {
      await assert.rejects(read(Buffer.from(text), size), expected, text.slice(0, 50))
    }
  }
})
