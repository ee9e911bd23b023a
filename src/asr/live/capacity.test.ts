import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capacityOf } from './capacity.ts'

test('the capacity leaves a quarter of the cores free, and is never nothing', () => {
  const small = { listening: 0.01, finals: 0.09, partials: 0.2 }
  assert.deepEqual(capacityOf(small, 2), { comfortable: 5, most: 15 })
  const large = { listening: 0.1, finals: 0.9, partials: 2 }
  assert.deepEqual(capacityOf(large, 1), { comfortable: 1, most: 1 })
})
