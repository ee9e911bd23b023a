import assert from 'node:assert/strict'
import test from 'node:test'
import { embeddingOf } from '../../../../test/support/asr/dialogue.ts'
import { clusterEmbeddings, mergeClusters } from './agglomerative-clustering.ts'
import { dot } from './vectors.ts'

function groupOf(...members: number[][]) {
  const sum = new Float64Array(members[0]!.length)
  for (const member of members) for (const [d, x] of member.entries()) sum[d]! += x
  return { sum, size: members.length }
}

test('the clusters with the highest mean cosine are merged first', () => {
  const groups = [groupOf([1, 0]), groupOf([0, 1]), groupOf([0.8, 0.6])]
  const merged = mergeClusters(groups, { count: 2, similarity: -1 })
  assert.deepEqual(merged, [groupOf([1, 0], [0.8, 0.6]), groupOf([0, 1])])
})

test('the mean cosine counts all members, not the direction of their sum', () => {
  // The first two have the same mean direction, but the members of the second lie far apart.
  const wide = groupOf([0.6, 0.8, 0], [0.6, -0.8, 0])
  const groups = [groupOf([1, 0, 0]), wide, groupOf([0.7, 0, Math.sqrt(0.51)])]
  const merged = mergeClusters(groups, { count: 2, similarity: -1 })
  assert.deepEqual(
    merged.map(({ size }) => size),
    [2, 2],
  )
  assert.deepEqual(merged[1], wide)
})

test('clusters below the similarity limit are not merged', () => {
  const groups = [groupOf([1, 0]), groupOf([0.6, 0.8])]
  assert.equal(mergeClusters(groups, { count: 1, similarity: 0.61 }).length, 2)
  assert.equal(mergeClusters(groups, { count: 1, similarity: 0.6 }).length, 1)
  assert.equal(mergeClusters([], { count: 1, similarity: 0 }).length, 0)
})

test('more embeddings than are compared at once form the same few clusters', () => {
  const names = [...'abc']
  const embeddings = Array.from({ length: 1000 }, (_, i) => embeddingOf({ [names[i % 3]!]: 1 }, i))
  const groups = clusterEmbeddings(embeddings, 3)
  assert.deepEqual(
    groups.map(({ size }) => size),
    [334, 333, 333],
  )
  for (const [k, { sum }] of groups.entries()) {
    const similarity = names.map((name) => dot(sum, embeddingOf({ [name]: 1 }, 5000)))
    assert.equal(similarity.indexOf(Math.max(...similarity)), k)
  }
})
