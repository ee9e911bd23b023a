// What pages say of the API exists: routes, and fields that stand in for those of other services.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { root, samplePages } from '../support/samples/samples.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

type Document = { paths: Record<string, Record<string, unknown>> }

let server: TestServer
let document: Document
before(async () => {
  server = await startServer()
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
})
after(() => server.close())

const read = (page: string) => readFileSync(join(root, page), 'utf8')

test('every request named on a page is in the OpenAPI document', () => {
  const routes = Object.entries(document.paths).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}/?$`),
    methods: Object.keys(methods).map((method) => method.toUpperCase()),
  }))
  // The first names requests of other services, the second ones in short.
  const others = ['docs/migration.md', 'CHANGELOG.md']
  const pages = samplePages.filter((page) => !others.includes(page))
  const named = pages.flatMap((page) => {
    const requests = read(page).matchAll(
      /\b(GET|POST|PUT|PATCH|DELETE) (\/v[12]\/[^\s`?;,)]*)(?!.*\(WebSocket)/g,
    )
    return Array.from(requests, ([, method, path]) => ({ page, method: method!, path: path! }))
  })
  assert.ok(named.length > 60, String(named.length))
  const wrong = named.filter(({ method, path }) => {
    return !routes.some(({ pattern, methods }) => pattern.test(path) && methods.includes(method))
  })
  assert.deepEqual(wrong, [])
})

test('replacements in docs/migration.md are in the OpenAPI document', () => {
  const rows = read('docs/migration.md').match(/^\|.*\|$/gm) ?? []
  // Words with an underscore in code, as fields are written; settings are in capitals.
  const named = rows.flatMap((row) => {
    const ours = row.split('|').slice(2).join('|')
    return [...ours.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => {
      return code!.match(/(?<![\w-])[a-z]+(?:_[a-z]+)+(?!\w)/g) ?? []
    })
  })
  const fields = new Set(named)
  assert.ok(fields.size > 30, String(fields.size))
  const schemas = JSON.stringify(document)
  const missing = [...fields].filter((name) => !new RegExp(`\\b${name}\\b`).test(schemas))
  assert.deepEqual(missing, [])
})
