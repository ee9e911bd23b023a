import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hoistComponents } from './hoist-components.ts'

const word = { title: 'Word', type: 'string' }

test('a schema with a title becomes a component and is replaced by references', () => {
  const line = { title: 'Line', type: 'array', items: word }
  assert.deepEqual(hoistComponents({ '/a': { get: line }, '/b': { get: word } }), {
    hoisted: {
      '/a': { get: { $ref: '#/components/schemas/Line' } },
      '/b': { get: { $ref: '#/components/schemas/Word' } },
    },
    schemas: {
      Line: { title: 'Line', type: 'array', items: { $ref: '#/components/schemas/Word' } },
      Word: word,
    },
  })
})

test("a property named 'title' does not make a component", () => {
  const paths = { '/a': { properties: { title: { type: 'string' } } } }
  assert.deepEqual(hoistComponents(paths), { hoisted: paths, schemas: {} })
})

test('two different schemas with the same title are an error', () => {
  const paths = { '/a': word, '/b': { ...word, minLength: 1 } }
  assert.throws(() => hoistComponents(paths), /two schemas are called Word/)
})
