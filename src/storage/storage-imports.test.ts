import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..')

test('the driver of PostgreSQL is loaded only when the setting asks for it', () => {
  const files = globSync('**/*.ts', { cwd: root }).filter(
    (file) => !/\.(test|fixture)\./.test(file),
  )
  const loads = files.filter((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    const isInside = file.startsWith(join('storage', 'postgres'))
    return !isInside && /^import (?!type ).*from '(pg|.*\/postgres\/.*)'/m.test(code)
  })
  assert.deepEqual(loads, [])
})
