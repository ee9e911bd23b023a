import assert from 'node:assert/strict'
import test from 'node:test'
import { metadataTokens } from './metadata-tokens.ts'

const tokens = (metadata: Record<string, unknown>, account = 'acme') => {
  return metadataTokens(account, metadata).map((token) => token.toString('hex'))
}

test('each key at each depth has a token of its own', () => {
  const all = tokens({ a: 1, b: { c: 'x', d: { e: [] } } })
  assert.equal(all.length, 5)
  assert.equal(new Set(all).size, 5)
})

test('scalars are distinguished by their text alone, other values by their kind too', () => {
  assert.deepEqual(tokens({ a: 42 }), tokens({ a: '42' }))
  assert.deepEqual(tokens({ a: null }), tokens({ a: 'null' }))
  assert.deepEqual(tokens({ a: [1, { x: 1, y: 2 }] }), tokens({ a: ['1', { y: '2', x: '1' }] }))
  const different = [{ a: 'x' }, { a: ['x'] }, { a: [['x']] }, { a: {} }, { a: [{}] }, { a: '{}' }]
  assert.equal(new Set(different.map((one) => tokens(one)[0])).size, different.length)
})

test('no path or account can be taken for another', () => {
  const firsts = [
    tokens({ 'a.b': 1 }),
    tokens({ a: { b: 1 } }),
    tokens({ 'a","b': 1 }),
    tokens({ 'a.b': 1 }, 'other'),
  ]
  assert.equal(new Set(firsts.flat()).size, firsts.flat().length)
})
