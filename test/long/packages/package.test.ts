import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { after, before } from 'node:test'
import { promisify } from 'node:util'
import { buildPackage } from '../../../scripts/build-package.ts'

const root = join(import.meta.dirname, '../../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

let parent: string
/** A package as npm would install it: Node refuses TypeScript in a folder of this name. */
let folder: string
let files: string[]

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'steno-test-'))
  folder = join(parent, 'node_modules/steno-server')
  mkdirSync(folder, { recursive: true })
  const named = manifest.files.filter((name: string) => name !== 'lib' && !name.includes('*'))
  for (const name of [...named, 'LICENSE', 'README.md', 'docs']) {
    const source = join(root, name)
    if (existsSync(source)) cpSync(source, join(folder, name), { recursive: true })
  }
  // Packages from elsewhere are not what is listed here.
  const unbundled = { ...manifest, bundleDependencies: [] }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(unbundled))
  for (const name of ['test', 'bench', 'scripts', 'models']) {
    cpSync(join(root, 'package.json'), join(folder, name, 'stray.json'))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await buildPackage(join(folder, 'lib'))
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder })
  const [packed] = Object.values(
    JSON.parse(stdout) as Record<string, { files: { path: string }[] }>,
  )
  files = packed!.files.map(({ path }) => path)
})

after(() => rm(parent, { recursive: true, force: true }))

test('the package contains exactly the program, data, pages and license', () => {
  const needed = [
    ...['LICENSE', 'NOTICE', 'README.md', 'bin/steno.mjs', 'docs/configuration.md'],
    ...['lib/main.js', 'lib/cli/server/sample.flac', 'lib/models/catalog.json'],
    ...['dashboard/dist/index.html', 'guide/dist/index.html', 'reference/dist/scalar.js'],
    ...['lib/asr/model-files/recipe.txt', 'lib/asr/speakers/embedding/model/xvector-8k.onnx'],
    'lib/audio/libav/wasm/COPYING.LGPLv2.1',
  ]
  assert.deepEqual(
    needed.filter((name) => !files.includes(name)),
    [],
  )
  const known =
    /^(bin|lib|docs|(dashboard|guide|reference)\/dist)\/|^(LICENSE|NOTICE|README.md|CHANGELOG.md)$/
  assert.deepEqual(
    files.filter((name) => !known.test(name)),
    ['package.json'],
  )
  assert.deepEqual(
    files.filter((name) => /\.ts$|\.test\.|fixture|decisions/.test(name)),
    [],
  )
})

test('every file loaded by a module of the package is in the package', () => {
  const code = files.filter((name) => /^(lib|bin)\/.*\.m?js$/.test(name))
  const loaded = code.flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const paths = text.matchAll(
      /(?:\b(?:from |import |import\(\s*)'(?=\.)|new URL\()'?([\w./-]+\.\w+)'/g,
    )
    return [...paths].map(([, path]) => join(dirname(name), path!))
  })
  assert.ok(loaded.length > code.length)
  const isOfCheckout = (path: string) => path.startsWith('src/')
  const missing = loaded.filter((path) => !files.includes(path) && !isOfCheckout(path))
  assert.deepEqual([...new Set(missing)], [])
})

test('the installed program starts from another folder', async () => {
  const steno = async (...args: string[]) => {
    const command = [join(folder, 'bin/steno.mjs'), ...args]
    const env = { PATH: process.env.PATH, HOME: folder }
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: '/', env })
    return stdout
  }
  const [version, help] = await Promise.all([steno('--version'), steno('serve', '--help')])
  assert.equal(version, `steno ${manifest.version}, Node ${process.versions.node}\n`)
  assert.match(help, /^Usage: steno serve/)
})
