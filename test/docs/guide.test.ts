import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'node:test'
import { buildGuide } from '../../scripts/guide/build-guide.ts'
import { addressOf } from '../../scripts/guide/pages.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

const root = join(import.meta.dirname, '../..')

/** Read in the repository, not on the site. */
const elsewhere = ['docs/decisions']

test('every page is on the site, and its links and anchors are valid', async (t) => {
  const folder = await makeFolder(t)
  buildGuide(folder)
  const missing = globSync('docs/**/*.md', { cwd: root }).filter((file) => {
    return addressOf(file) === undefined && !elsewhere.includes(dirname(file))
  })
  assert.deepEqual(missing, [])

  const pages = globSync('**/*.html', { cwd: folder })
  const anchors = new Map(
    pages.map((page) => {
      const html = readFileSync(join(folder, page), 'utf8')
      return [page, new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id))]
    }),
  )
  const broken: string[] = []
  let seen = 0
  for (const page of pages) {
    const html = readFileSync(join(folder, page), 'utf8')
    for (const [, link] of html.matchAll(/ (?:href|src)="(?!https?:|mailto:|data:)([^"]+)"/g)) {
      const [path, anchor] = link!.split('#') as [string, string | undefined]
      const target = path === '' ? page : normalize(join(dirname(page), path))
      seen++
      // Pages of the server itself.
      if (target === '../' || target === '../docs') continue
      const isThere = existsSync(join(folder, target))
      if (!isThere || (anchor && !anchors.get(target)?.has(anchor))) broken.push(`${page}: ${link}`)
    }
  }
  assert.deepEqual(broken, [])
  assert.ok(seen > 1000, String(seen))

  const entries = JSON.parse(readFileSync(join(folder, 'search.json'), 'utf8')) as { id: string }[]
  const lost = entries.filter(({ id }) => {
    const [page, anchor] = id.split('#') as [string, string]
    return !anchors.get(page)?.has(anchor)
  })
  assert.deepEqual(lost, [])
  assert.ok(entries.length > 200, String(entries.length))
})
