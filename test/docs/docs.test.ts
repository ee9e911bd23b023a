import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { isMediaName } from '../../src/audio/containers/media-names.ts'
import { settingNames } from '../../src/config/config.ts'

const root = join(import.meta.dirname, '../..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })

/** What no code of ours reads, but the packages that send traces. */
const readByPackages = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SERVICE_NAME',
]

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

test('docs/configuration.md lists exactly the variables that are read', () => {
  const listed = [...read('docs/configuration.md').matchAll(/^\| `([A-Z]+_\w+)`/gm)]
  assert.deepEqual(
    listed.map(([, name]) => name).sort(),
    [...settingNames(), ...readByPackages].sort(),
  )
})

test('pages name only existing settings', () => {
  const known = new Set(settingNames())
  const named = pages.flatMap((page) => [...read(page).matchAll(/\bSTENO_[A-Z_]+\b/g)].flat())
  assert.deepEqual(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  )
})

test('pages name only existing npm scripts and commands', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const text = pages.map(read).join('\n')
  const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!)
  assert.deepEqual(
    named(/\bnpm run (\w+)/g).filter((name) => !Object.hasOwn(scripts, name)),
    [],
  )
  const verbs = [...read('src/cli/commands.ts').matchAll(/^ {2}(\w+): \{$/gm)].map(
    ([, verb]) => verb,
  )
  assert.deepEqual(
    named(/\bsteno (\w+)\b/g).filter((name) => !verbs.includes(name)),
    [],
  )
})

test('links from pages to project files are valid', () => {
  const broken = pages.flatMap((page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link!)
    return links
      .filter((link) => !existsSync(join(root, dirname(page), link)))
      .map((l) => [page, l])
  })
  assert.deepEqual(broken, [])
})

test('decision records are numbered uniquely', () => {
  const names = globSync('docs/decisions/*.md', { cwd: root }).map((path) => path.slice(15))
  const numbers = names.map((name) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1])
  assert.ok(numbers.every((number) => number !== undefined))
  assert.equal(new Set(numbers).size, numbers.length)
})

test('the tests that pages name exist', () => {
  const named = ['docs/security.md', 'docs/data-protection.md'].flatMap((page) => {
    const text = read(page).replace(/\s+/g, ' ')
    const found = [...text.matchAll(/\]\(\.\.\/(\S+?)\): ((?:"[^"]+"(?:, )?)+)/g)]
    return found.flatMap(([, file, names]) => {
      return [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => ({ file: file!, name: name! }))
    })
  })
  assert.ok(named.length > 40, String(named.length))
  const missing = named.filter(({ file, name }) => !read(file).includes(`'${name}'`))
  assert.deepEqual(missing, [])
})

test('the names of recordings in docs/recordings.md are those that are read in folders', () => {
  const [, formats = ''] = read('docs/recordings.md').split('\n## ')
  const names = [...formats.matchAll(/`(\.\w+)`/g)].map(([, extension]) => extension!)
  const unread = names.filter((extension) => !isMediaName(`talk${extension}`))
  assert.ok(names.length > 50)
  assert.deepEqual([...new Set(unread)].sort(), ['.mts', '.ts'])
})
