import assert from 'node:assert/strict'
import test from 'node:test'
import { metadataTokens } from './metadata-tokens.ts'

const tokens = (metadata: Record<string, unknown>, account = 'acme') => {
  return metadataTokens(account, metadata).map((token) => token.toString('hex'))
}

test('each metadata key at each depth has its own token', () => {
  const all = tokens({ a: 1, b: { c: 'x', d: { e: [] } } })
  assert.equal(all.length, 5)
  assert.equal(new Set(all).size, 5)
})

test('scalars are compared by text, other values by type and content', () => {
  assert.deepEqual(tokens({ a: 42 }), tokens({ a: '42' }))
  assert.deepEqual(tokens({ a: null }), tokens({ a: 'null' }))
  assert.deepEqual(tokens({ a: [1, { x: 1, y: 2 }] }), tokens({ a: ['1', { y: '2', x: '1' }] }))
  const different = [{ a: 'x' }, { a: ['x'] }, { a: [['x']] }, { a: {} }, { a: [{}] }, { a: '{}' }]
  assert.equal(new Set(different.map((one) => tokens(one)[0])).size, different.length)
})

test('tokens of different paths and accounts do not collide', () => {
  const firsts = [
    tokens({ 'a.b': 1 }),
    tokens({ a: { b: 1 } }),
    tokens({ 'a","b': 1 }),
    tokens({ 'a.b': 1 }, 'other'),
  ]
  assert.equal(new Set(firsts.flat()).size, firsts.flat().length)
})
