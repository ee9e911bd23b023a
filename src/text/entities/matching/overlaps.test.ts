import assert from 'node:assert/strict'
import test from 'node:test'
import type { Entity, EntityType } from '../entity-types.ts'
import { resolveOverlaps } from './overlaps.ts'

function entity(type: EntityType, from: number, to: number, score = 0.5): Entity {
  return { type, from, to, score }
}

test('the longest of overlapping entities is kept', () => {
  const long = entity('DATE', 0, 9)
  assert.deepEqual(resolveOverlaps([entity('MONTH', 0, 5, 1), long, entity('DAY', 8, 10)]), [long])
})

test('of equally long entities the more general type is kept, then the higher score', () => {
  const name = entity('NAME', 0, 4)
  assert.deepEqual(resolveOverlaps([entity('NAME_GIVEN', 0, 4, 1), name]), [name])
  const birth = entity('DOB', 0, 4, 0.9)
  assert.deepEqual(resolveOverlaps([entity('DATE', 0, 4), birth]), [birth])
})

test('adjacent entities are all kept in text order', () => {
  const [a, b] = [entity('DAY', 0, 4), entity('TIME', 4, 9)]
  assert.deepEqual(resolveOverlaps([b, a]), [a, b])
})

test('an empty entity is dropped', () => {
  assert.deepEqual(resolveOverlaps([entity('DAY', 3, 3)]), [])
})
