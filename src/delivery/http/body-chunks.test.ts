import assert from 'node:assert/strict'
import test from 'node:test'
import { inChunks } from './body-chunks.ts'

test('a body comes in pieces of 64 KB at most, and others have their turn in between', async () => {
  const whole = Buffer.alloc(1_000_000, 'abc')
  const body = {
    bytes: whole.length,
    async *pieces() {
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
  const pieces: Uint8Array[] = []
  for await (const piece of inChunks(body)) pieces.push(piece)
  isRead = true
  assert.deepEqual(Buffer.concat(pieces), whole)
  assert.ok(pieces.every(({ length }) => length <= 65_536))
  assert.ok(turns >= pieces.length - 1, `${turns} turns for ${pieces.length} pieces`)
})
