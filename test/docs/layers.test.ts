import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../..')

/** Which rooms a room may import. `main`, `cli` and `app` build and start, so they may import everything. */
const allowed: Record<string, readonly string[]> = {
  api: ['jobs', 'live', 'delivery', 'storage', 'transcript', 'audio (types)'],
  delivery: ['storage', 'net'],
  jobs: ['asr', 'text', 'storage', 'audio', 'transcript', 'net'],
  live: ['asr', 'text', 'storage', 'audio', 'transcript'],
  asr: ['audio', 'transcript'],
  text: ['audio', 'transcript'],
  storage: ['audio', 'transcript'],
  audio: [],
  transcript: [],
  net: [],
}
const builders = ['main', 'cli', 'app']
const shared = ['config', 'env-reader', 'errors', 'log', 'metrics', 'tracing', 'app (types)']

type Import = { file: string; room: string; target: string }

/** Every import of another room; type-only ones are marked. A file right under `src/` is a room of its own. */
function readImports(): Import[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    (file) => !/\.(test|fixture)\.ts$/.test(file),
  )
  return files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    const found = code.matchAll(
      /\b(import|export)( type)?\b(?:[^'"`;]*?from)?\s*\(?\s*'(\.[^']+)'/g,
    )
    return [...found].map(([, , type, path]) => {
      const target = roomOf(join(dirname(file), path!)) + (type ? ' (types)' : '')
      return { file, room: roomOf(file), target }
    })
  })
}

function roomOf(path: string): string {
  return path.split(/[/\\]/)[1]!.replace(/\.ts$/, '')
}

test('every import goes downwards: the rooms know only what the table allows', () => {
  const wrong = readImports().filter(({ room, target }) => {
    const own = target.replace(' (types)', '')
    const may = [...(allowed[room] ?? []), ...shared, room]
    return !builders.includes(room) && !may.includes(target) && !may.includes(own)
  })
  assert.deepEqual(wrong, [])
})

test('every room under src/ stands in the table', () => {
  const rooms = new Set(readImports().map(({ room }) => room))
  const known = new Set([...Object.keys(allowed), ...builders, ...shared])
  assert.deepEqual(
    [...rooms].filter((room) => !known.has(room)),
    [],
  )
  assert.ok(rooms.size > 8, 'imports are found at all')
})

test('docs/architecture.md draws the same rooms', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const drawn = [...page.matchAll(/^([a-z]+(?: · [a-z]+)*) +→ +(.+)$/gm)].flatMap(
    ([, rooms, may]) => {
      return rooms!.split(' · ').map((room) => [room, may!.trim()])
    },
  )
  const everything = builders.map((room) => [room, 'everything'])
  const table = Object.entries(allowed).map(([room, may]) => [room, may.join(' · ') || 'nothing'])
  assert.deepEqual(Object.fromEntries(drawn), Object.fromEntries([...everything, ...table]))
})
