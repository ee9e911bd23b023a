import assert from 'node:assert/strict'
import test from 'node:test'
import { formatTable } from './table.ts'

test('a table fits its cells, without trailing blanks or control characters', () => {
  const rows = [
    ['1', 'long name'],
    ['1000', 'a\nb'],
  ]
  assert.equal(formatTable(['id', 'name'], rows), 'id    name\n1     long name\n1000  a?b\n')
})
