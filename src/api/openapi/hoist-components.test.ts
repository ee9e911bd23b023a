import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hoistComponents } from './hoist-components.ts'

const word = { title: 'Word', type: 'string' }

test('a schema with a title becomes a component, and references stand where it was', () => {
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

test('a field that is called title is no title', () => {
  const paths = { '/a': { properties: { title: { type: 'string' } } } }
  assert.deepEqual(hoistComponents(paths), { hoisted: paths, schemas: {} })
})

test('two different schemas must not share a name', () => {
  const paths = { '/a': word, '/b': { ...word, minLength: 1 } }
  assert.throws(() => hoistComponents(paths), /two schemas are called Word/)
})
