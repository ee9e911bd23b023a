import assert from 'node:assert/strict'
import test from 'node:test'
import { bodyChunks } from './body-chunks.ts'

test('body chunks are at most 64 KB and yield to the event loop in between', async () => {
  const whole = Buffer.alloc(1_000_000, 'abc')
  const body = {
    bytes: whole.length,
    async *chunks() {
      yield whole
    },
  }
  let turns = 0
  let isRead = false
  const count = () => {
    turns++
    if (!isRead) setImmediate(count)
  }
  setImmediate(count)
  const chunks: Uint8Array[] = []
  for await (const chunk of bodyChunks(body)) chunks.push(chunk)
  isRead = true
  assert.deepEqual(Buffer.concat(chunks), whole)
  assert.ok(chunks.every(({ length }) => length <= 65_536))
  assert.ok(turns >= chunks.length - 1, `${turns} turns for ${chunks.length} chunks`)
})
