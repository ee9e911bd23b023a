import assert from 'node:assert/strict'
import { appendFile, readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../test/support/test-storage.ts'
import type { RecognizedSegment } from '../asr/speech-engine.ts'
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

test('a batch is known again by its channel and segments', async (t) => {
  const path = join(await makeFolder(t), 'heard.jsonl')
  const first = await openRecognitionCheckpoint(path)
  await Promise.all([
    first.append(0, [recognized(0), recognized(5)]),
    first.append(1, [recognized(0)]),
    first.append(0, []),
  ])
  await first.close()

  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  const segments = [recognized(0).segment, recognized(5).segment]
  assert.deepEqual(log.find(0, segments), [recognized(0), recognized(5)])
  assert.deepEqual(log.find(1, [recognized(0).segment]), [recognized(0)])
  assert.equal(log.find(0, [recognized(0).segment]), undefined, 'another plan of batches')
  assert.equal(log.find(1, segments), undefined)
})

test('a torn last line is dropped wherever it was torn, and the next one is whole', async (t) => {
  const folder = await makeFolder(t)
  const path = join(folder, 'whole.jsonl')
  const whole = await openRecognitionCheckpoint(path)
  await whole.append(0, [recognized(0)])
  const { length: kept } = await readFile(path)
  await whole.append(0, [recognized(5)])
  await whole.close()
  const bytes = await readFile(path)

  for (let length = kept + 1; length < bytes.length; length++) {
    const torn = join(folder, `${length}.jsonl`)
    await appendFile(torn, bytes)
    await truncate(torn, length)
    const log = await openRecognitionCheckpoint(torn)
    assert.equal(log.find(0, [recognized(5).segment]), undefined)
    await log.append(0, [recognized(9)])
    await log.close()
    const again = await openRecognitionCheckpoint(torn)
    assert.deepEqual(again.find(0, [recognized(0).segment]), [recognized(0)])
    assert.deepEqual(again.find(0, [recognized(9).segment]), [recognized(9)])
    await again.close()
  }
})

test('a line that cannot be read is heard again, those after it are not', async (t) => {
  const path = join(await makeFolder(t), 'heard.jsonl')
  const first = await openRecognitionCheckpoint(path)
  await first.append(0, [recognized(0)])
  await appendFile(path, '\0\0\0\n')
  await first.append(0, [recognized(5)])
  await first.close()
  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  assert.ok(log.find(0, [recognized(0).segment]))
  assert.ok(log.find(0, [recognized(5).segment]))
})

test('long batches that end at the same time do not mix', async (t) => {
  const path = join(await makeFolder(t), 'heard.jsonl')
  const long = [0, 5, 10].map((start) => ({
    ...recognized(start),
    warnings: ['x'.repeat(2_000_000)],
  }))
  const first = await openRecognitionCheckpoint(path)
  await Promise.all(long.map((batch) => first.append(0, [batch])))
  await first.close()
  const log = await openRecognitionCheckpoint(path)
  t.after(() => log.close())
  for (const batch of long) assert.deepEqual(log.find(0, [batch.segment]), [batch])
})
