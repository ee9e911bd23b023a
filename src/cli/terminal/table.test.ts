import assert from 'node:assert/strict'
import test from 'node:test'
import { formatTable } from './table.ts'

test('a table is as wide as its cells, without blanks at the ends of lines, and harmless', () => {
  const rows = [
    ['1', 'long name'],
    ['1000', 'a\nb'],
  ]
  assert.equal(formatTable(['id', 'name'], rows), 'id    name\n1     long name\n1000  a?b\n')
})
