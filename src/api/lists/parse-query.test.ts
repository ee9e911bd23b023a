import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseQuery } from './parse-query.ts'

for (const [text, expected] of [
  ['', {}],
  ['a=1&b=%20x+y', { a: '1', b: ' x y' }],
  ['a=1&a=2', { a: ['1', '2'] }],
  ['a[]=1', { a: ['1'] }],
  ['a=0&a[]=1', { a: ['0', '1'] }],
  ['a[b][c]=1&a[b][d]=2', { a: { b: { c: '1', d: '2' } } }],
  ['a[b]=1&a[b]=2', { a: { b: ['1', '2'] } }],
  ['a[0]=x&a[1]=y', { a: { 0: 'x', 1: 'y' } }],
  ['a[b][0]=x&a[b][1]=y', { a: { b: ['x', 'y'] } }],
  ['a[1]=x', { a: { 1: 'x' } }],
  ['a[][b]=1', { a: [{ b: '1' }] }],
  ['a=1&a[b]=2', { a: ['1', { b: '2' }] }],
  ['a[b=1', { 'a[b': '1' }],
  ['[a]=1', { '[a]': '1' }],
  ['a[b]c=1', { 'a[b]c': '1' }],
  ['a', { a: '' }],
] as const) {
  test(`parseQuery reads '${text}' as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(JSON.parse(JSON.stringify(parseQuery(text))), expected)
  })
}

test('parseQuery does not pollute prototypes', () => {
  const query = parseQuery('__proto__[a]=1&constructor[prototype][b]=2&x[__proto__][c]=3')
  assert.equal(({} as { a?: unknown }).a, undefined)
  assert.equal(({} as { c?: unknown }).c, undefined)
  assert.deepEqual(Object.keys(query), ['__proto__', 'constructor', 'x'])
})

test('a key nested more than twenty levels deep is taken literally', () => {
  assert.deepEqual(Object.keys(parseQuery(`a${'[b]'.repeat(21)}=1`)), [`a${'[b]'.repeat(21)}`])
})

test('parseQuery never throws', () => {
  const text = fc
    .array(fc.constantFrom('a', '[', ']', '=', '&', '0', '%', '__proto__', '[]'))
    .map((parts) => parts.join(''))
  fc.assert(fc.property(text, (query) => void JSON.stringify(parseQuery(query))))
})
