import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planEmbeddings } from './plan-embeddings.ts'

const samples = 1500 * 16_000
const words = [1, 2, 700, 1400].map((start) => {
  return { text: 'a', start, end: start + 0.5, confidence: 1 }
})

test('regions around the words are grouped by ten minutes', () => {
  const groups = planEmbeddings(words, samples, 'built-in')
  assert.equal(groups.length, 3)
  for (const group of groups) assert.ok(group.at(-1)!.end - group[0]!.start <= 600 * 16_000)
  assert.deepEqual(planEmbeddings([], samples, 'embedding'), [])
})

test('a pipeline gets a whole channel if it has words', () => {
  assert.deepEqual(planEmbeddings(words, samples, 'pipeline'), [[{ start: 0, end: samples }]])
  assert.deepEqual(planEmbeddings([], samples, 'pipeline'), [])
})
