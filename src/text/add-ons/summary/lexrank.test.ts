import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cosine, lexRank, similarityGraph, vectorsOf } from './lexrank.ts'

/** Builds a graph of sentences given as their terms, one per letter. */
function graphOf(...sentences: string[]) {
  return similarityGraph(vectorsOf(sentences.map((sentence) => [...sentence])))
}

test('vectorsOf returns unit vectors that weigh rarer terms more', () => {
  const [first, , empty] = vectorsOf([['a', 'b'], ['a'], []])
  assert.ok(Math.abs(Math.hypot(...first!.values()) - 1) < 1e-9)
  assert.ok(first!.get('b')! > first!.get('a')!)
  assert.equal(empty!.size, 0)
})

test('vectorsOf drops terms that most sentences contain', () => {
  const many = Array.from({ length: 40 }, (_, i) => ['die', `w${i}`])
  assert.deepEqual([...vectorsOf(many)[0]!.keys()], ['w0'])
  assert.deepEqual([...vectorsOf(many.slice(0, 5))[0]!.keys()], ['die', 'w0'])
})

test('similarityGraph holds the cosine of similar sentences in both directions', () => {
  const vectors = vectorsOf([['a', 'b', 'c'], ['b', 'c', 'd'], ['e']])
  const graph = similarityGraph(vectors)
  const expected = cosine(vectors[0]!, vectors[1]!)
  assert.ok(Math.abs(graph[0]!.get(1)! - expected) < 1e-9)
  assert.equal(graph[1]!.get(0), graph[0]!.get(1))
  assert.equal(graph[2]!.size, 0)
})

test('similarityGraph ignores sentences that share a word by chance', () => {
  const rest = (from: number) => Array.from({ length: 20 }, (_, i) => `w${from + i}`)
  const graph = similarityGraph(
    vectorsOf([
      ['a', ...rest(0)],
      ['a', ...rest(50)],
    ]),
  )
  assert.equal(graph[0]!.size, 0)
})

test('lexRank ranks the most central sentence first and an isolated one last', () => {
  const ranks = lexRank(graphOf('abc', 'ad', 'be', 'cf', 'xyz'))
  assert.equal(ranks.indexOf(Math.max(...ranks)), 0)
  const alike = ranks.slice(0, 4).reduce((sum, rank) => sum + rank, 0)
  assert.ok(Math.abs(alike - 4) < 1e-9)
  assert.ok(Math.abs(ranks[4]! - 0.15) < 1e-9)
})
