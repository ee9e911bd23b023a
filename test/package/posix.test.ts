import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../..')

/** Code that names what only POSIX systems have, and what it does elsewhere. */
const known: Record<string, string> = {
  'src/asr/model-files/prepacked/prepacked-models.ts': 'prepacks models on Linux only',
  'src/audio/decoder/sandbox/decoder-sandbox.ts':
    'tries it on platforms that have it only: `candidates`',
  'src/audio/decoder/decoder-process.ts': 'goes on without',
  'src/audio/decoder/sandbox/memory-watch.ts': 'reports no memory',
  'src/language-services/apertium/apertium.ts': 'Apertium is a program for POSIX systems',
  'src/net/dns/resolver-files.ts': 'has the path of Windows beside it',
  'src/net/dns/resolver.ts': 'a file that is not there has no search domains',
  'src/workers/cpu-time.ts': 'does not know the time of a process',
}

test('user-facing code does not assume POSIX except in listed files', () => {
  const files = globSync(['src/**/*.ts', 'bin/*.mjs', 'examples/**/*.ts', 'scripts/install-*.ts'], {
    cwd: root,
  }).filter((file) => !/\.(?:test|fixture)\.ts$/.test(file))
  assert.ok(files.length > 400)
  const found = files.filter((file) => {
    const code = readFileSync(join(root, file), 'utf8').replace(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, '')
    return /['"`]\/(?:bin|dev|etc|proc|sys|tmp|usr)\/|['"](?:sh|bash|chmod|unshare)['"]/.test(code)
  })
  assert.deepEqual(found.sort(), Object.keys(known).sort())
})
