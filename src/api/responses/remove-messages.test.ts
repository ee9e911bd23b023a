import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { removeMessages, removeMessagesFromChunks } from './remove-messages.ts'

const message = JSON.stringify({ type: 'transcript', text: ',"messages":["a"]' })

async function readWithoutMessages(text: string, cuts: readonly number[]): Promise<string> {
  const bytes = Buffer.from(text)
  const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)
  async function* chunks() {
    for (const [i, place] of places.entries()) yield bytes.subarray(place, places[i + 1] ?? place)
  }
  const read = await Array.fromAsync(removeMessagesFromChunks(chunks()))
  return Buffer.concat(read).toString()
}

test('messages are removed from a result, and text that looks like them is kept', async () => {
  const transcription = { full_transcript: 'ü,"messages":["x"]}', utterances: [] }
  for (const result of [
    { metadata: {}, transcription },
    { metadata: { messages: 1 }, transcription: { full_transcript: '\\,"messages":[' } },
  ]) {
    for (const messages of [[], [message, message]]) {
      const text = JSON.stringify({ ...result, messages })
      assert.equal(removeMessages(text), JSON.stringify(result))
    }
    assert.equal(removeMessages(JSON.stringify(result)), JSON.stringify(result))
  }
})

test('messages are removed from a result however its text is split into chunks', async () => {
  const value = { metadata: {}, text: 'ü,"messages":["x"]}' }
  const texts = [JSON.stringify(value), JSON.stringify({ ...value, messages: [message] })]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), fc.array(fc.nat()), async (text, cuts) => {
      assert.equal(await readWithoutMessages(text, cuts), JSON.stringify(value))
    }),
  )
})

test('the result is not read beyond the start of its messages', async () => {
  const read: number[] = []
  async function* chunks() {
    for (const [i, text] of ['{"a":1,"mess', 'ages":[', '"x"]}'].entries()) {
      read.push(i)
      yield Buffer.from(text)
    }
  }
  const left = await Array.fromAsync(removeMessagesFromChunks(chunks()))
  assert.equal(Buffer.concat(left).toString(), '{"a":1}')
  assert.deepEqual(read, [0, 1])
})
