import assert from 'node:assert/strict'
import { appendFile, readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import type { Batch, RecognizedSegment } from '../../../asr/speech-engine.ts'
import { openRecognitionCheckpoint } from './recognition-checkpoint.ts'

function recognized(start: number): RecognizedSegment {
  const words = [{ text: 'ü', start, end: start + 1, confidence: 1 }]
  return {
    segment: { start, end: start + 5 },
    words,
    model: 'm',
    language: 'en',
    uncovered: 0,
    warnings: [],
  }
}

/** A batch of the segments that `recognized` returns. */
function batchOf(starts: readonly number[], changed: Partial<Batch> = {}): Batch {
  const segments = starts.map((start) => recognized(start).segment)
  const settings = { model: 'm', language: 'en', languages: [], vocabulary: [] }
  return { channel: 0, path: 'pcm', segments, ...settings, ...changed }
}

test('a stored batch is found by its channel and segments', async (t) => {
  const path = join(await makeFolder(t), 'recognized.jsonl')
  const first = await openRecognitionCheckpoint(path)
  await Promise.all([
    first.append(batchOf([0, 5]), [recognized(0), recognized(5)]),
    first.append(batchOf([0], { channel: 1 }), [recognized(0)]),
    first.append(batchOf([]), []),
  ])
  await first.close()

  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  assert.deepEqual(log.find(batchOf([0, 5])), [recognized(0), recognized(5)])
  assert.deepEqual(log.find(batchOf([0, 5], { path: 'moved' })), [recognized(0), recognized(5)])
  assert.deepEqual(log.find(batchOf([0], { channel: 1 })), [recognized(0)])
  assert.equal(log.find(batchOf([0])), undefined, 'another plan of batches')
  assert.equal(log.find(batchOf([0, 5], { channel: 1 })), undefined)
})

test('results of another model, language or vocabulary are not reused', async (t) => {
  const path = join(await makeFolder(t), 'recognized.jsonl')
  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  await log.append(batchOf([0]), [recognized(0)])
  assert.ok(log.find(batchOf([0])))
  const others = [
    { model: 'other' },
    { language: 'fr' },
    { language: undefined },
    { languages: ['en', 'fr'] },
    { vocabulary: ['Steno'] },
  ]
  for (const other of others) assert.equal(log.find(batchOf([0], other)), undefined)
})

test('a file of an older version is opened, and its batches are recognized again', async (t) => {
  const path = join(await makeFolder(t), 'recognized.jsonl')
  await appendFile(path, `${JSON.stringify({ channel: 0, batch: [recognized(0)] })}\nnull\n`)
  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  assert.equal(log.find(batchOf([0])), undefined)
  await log.append(batchOf([0]), [recognized(0)])
  assert.deepEqual(log.find(batchOf([0])), [recognized(0)])
})

test('a torn last line is dropped at any point, and the next line is complete', async (t) => {
  const folder = await makeFolder(t)
  const path = join(folder, 'whole.jsonl')
  const whole = await openRecognitionCheckpoint(path)
  await whole.append(batchOf([0]), [recognized(0)])
  const { length: kept } = await readFile(path)
  await whole.append(batchOf([5]), [recognized(5)])
  await whole.close()
  const bytes = await readFile(path)

  for (let length = kept + 1; length < bytes.length; length++) {
    const torn = join(folder, `${length}.jsonl`)
    await appendFile(torn, bytes)
    await truncate(torn, length)
    const log = await openRecognitionCheckpoint(torn)
    assert.equal(log.find(batchOf([5])), undefined)
    await log.append(batchOf([9]), [recognized(9)])
    await log.close()
    const again = await openRecognitionCheckpoint(torn)
    assert.deepEqual(again.find(batchOf([0])), [recognized(0)])
    assert.deepEqual(again.find(batchOf([9])), [recognized(9)])
    await again.close()
  }
})

test('an unreadable line is skipped, and those after it are used', async (t) => {
  const path = join(await makeFolder(t), 'recognized.jsonl')
  const first = await openRecognitionCheckpoint(path)
  await first.append(batchOf([0]), [recognized(0)])
  await appendFile(path, '\0\0\0\n')
  await first.append(batchOf([5]), [recognized(5)])
  await first.close()
  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  assert.ok(log.find(batchOf([0])))
  assert.ok(log.find(batchOf([5])))
})

test('long batches written concurrently are not mixed', async (t) => {
  const path = join(await makeFolder(t), 'recognized.jsonl')
  const long = [0, 5, 10].map((start) => ({
    ...recognized(start),
    warnings: ['x'.repeat(2_000_000)],
  }))
  const first = await openRecognitionCheckpoint(path)
  await Promise.all(long.map((batch) => first.append(batchOf([batch.segment.start]), [batch])))
  await first.close()
  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  for (const batch of long) assert.deepEqual(log.find(batchOf([batch.segment.start])), [batch])
})
