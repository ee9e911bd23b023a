import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { startServer } from '../support/start-server.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('what the tables of docs/migration.md offer instead is in the OpenAPI document', async (t) => {
  const rows = read('docs/migration.md').match(/^\|.*\|$/gm) ?? []
  // Words with an underscore in code, as fields are written; shouted ones are settings.
  const named = rows.flatMap((row) => {
    const ours = row
      .split(/(?<!\\)\|/)
      .slice(2)
      .join('|')
    return [...ours.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => {
      return code!.match(/(?<![\w-])[a-z]+(?:_[a-z]+)+(?!\w)/g) ?? []
    })
  })
  assert.ok(new Set(named).size > 30, String(new Set(named).size))
  const server = await startServer()
  t.after(() => server.close())
  const schemas = await (await fetch(`${server.url}/openapi.json`)).text()
  const missing = [...new Set(named)].filter((name) => !new RegExp(`\\b${name}\\b`).test(schemas))
  assert.deepEqual(missing, [])
})
