import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { inFieldOrder } from './field-order.ts'

const schema = Type.Object({
  first: Type.Object({ a: Type.String(), b: Type.Array(Type.String()) }),
  map: Type.Record(Type.String(), Type.String()),
  last: Type.String(),
})

test('errors are sorted by the order of the fields, and keep their order within a field', () => {
  const given = [
    'unknown one',
    'last',
    'map.z one',
    'map.a two',
    'first.unknown',
    'first.b.1 one',
    'first.b.0 two',
    'first.a',
    'first',
    'other two',
  ]
  const errors = given.map((text) => ({ path: text.split(' ')[0]!.split('.'), rule: text }))
  assert.deepEqual(
    inFieldOrder(schema, errors).map(({ rule }) => rule),
    [
      'first',
      'first.a',
      'first.b.1 one',
      'first.b.0 two',
      'first.unknown',
      'map.z one',
      'map.a two',
      'last',
      'unknown one',
      'other two',
    ],
  )
})
