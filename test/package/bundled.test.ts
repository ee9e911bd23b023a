import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'node:test'

type Locked = {
  engines?: Record<string, string>
  dev?: boolean
  inBundle?: boolean
  hasInstallScript?: boolean
}

const root = join(import.meta.dirname, '../..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const manifest = read('package.json')
const locked = read('package-lock.json').packages as Record<string, Locked>

// Comes with a dependency of the server, and declares no types here.
type Semver = { satisfies(version: string, range: string): boolean }
const semver: Semver = createRequire(import.meta.url)('semver')

test('the package bundles every dependency without native parts', () => {
  const names = Object.keys(manifest.dependencies)
  const isNative = (name: string) => locked[`node_modules/${name}`]?.hasInstallScript
  assert.deepEqual(
    manifest.bundleDependencies,
    names.filter((name) => !isNative(name)),
  )
  assert.deepEqual(names.filter(isNative), ['onnxruntime-node'])
})

test('no fetched package rejects the oldest supported Node version', () => {
  const [, oldest] = /^>=(\d+\.\d+\.\d+)$/.exec(manifest.engines.node) ?? []
  assert.ok(oldest)
  const fetched = Object.entries(locked).filter(([, { dev, inBundle }]) => !dev && !inBundle)
  assert.ok(fetched.length > 10)
  const refusing = fetched.filter(([, { engines }]) => {
    return !semver.satisfies(oldest, engines?.node ?? '*')
  })
  assert.deepEqual(
    refusing.map(([path, { engines }]) => `${path}: ${engines?.node}`),
    [],
  )
})
