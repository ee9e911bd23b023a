import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capacityOf } from './capacity.ts'

test('the capacity leaves a quarter of the cores free, and is never nothing', () => {
  assert.equal(capacityOf({ listening: 0.01, finals: 0.09, partials: 0.2 }, 2), 5)
  assert.equal(capacityOf({ listening: 0.1, finals: 0.9, partials: 2 }, 2), 1)
})
