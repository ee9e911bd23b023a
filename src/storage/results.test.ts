import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { openTestStorage } from '../../test/test-storage.ts'
import {
  dropResult,
  MAX_INLINE_RESULT_BYTES,
  readResult,
  storedResult,
  storeResultText,
} from './results.ts'

/** Pieces one by one, and how far they were read. */
function piecesOf(texts: readonly string[]) {
  const seen = { read: 0, isClosed: false }
  async function* pieces(): AsyncGenerator<string> {
    try {
      for (const text of texts) {
        seen.read++
        yield text
      }
    } finally {
      seen.isClosed = true
    }
  }
  return { seen, pieces: pieces() }
}

test('a text in pieces lies in its row up to the limit, in bytes, and beyond it in an object', async (t) => {
  const { db } = await openTestStorage(t)
  const full = 'ü'.repeat(MAX_INLINE_RESULT_BYTES / 2)
  for (const [texts, where] of [
    [[], 'row'],
    [['{', '"a":1}'], 'row'],
    [[full.slice(10), 'ü'.repeat(10)], 'row'],
    [[full, 'x', full], 'object'],
  ] as const) {
    const { pieces, seen } = piecesOf(texts)
    const stored = await storeResultText(db, pieces)
    assert.equal(stored.result_object === null ? 'row' : 'object', where)
    assert.equal(await readResult(db, storedResult(stored)!), texts.join(''))
    assert.deepEqual(seen, { read: texts.length, isClosed: true })
    await dropResult(db, stored)
    if (stored.result_object) assert.ok(!existsSync(db.objects.path(stored.result_object)))
  }
})

test('a text that cannot be written leaves nothing, and its source is closed', async (t) => {
  const { db } = await openTestStorage(t)
  const { pieces, seen } = piecesOf(['x'.repeat(MAX_INLINE_RESULT_BYTES + 1), 'y', 'z'])
  const objects = {
    ...db.objects,
    async write() {
      throw new Error('no')
    },
  }
  await assert.rejects(storeResultText({ ...db, objects }, pieces), /no/)
  assert.deepEqual(seen, { read: 1, isClosed: true })
  assert.deepEqual(await Array.fromAsync(db.objects.list()), [])
})
