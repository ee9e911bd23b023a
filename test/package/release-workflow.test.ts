import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'node:test'

type Step = { uses?: string; run?: string; with?: Record<string, string> }
type Workflow = { jobs: { publish: { permissions: object; steps: Step[] } } }

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const yaml: { parse(text: string): Workflow } = createRequire(import.meta.url)('yaml')
const { permissions, steps } = yaml.parse(read('.github/workflows/release.yml')).jobs.publish
const commands = steps.map(({ run = '' }) => run).join('\n')

test('the release workflow has permissions for provenance and attests it', () => {
  const identity = { 'id-token': 'write', attestations: 'write', contents: 'write' }
  assert.deepEqual(permissions, identity)
  assert.match(commands, /npm publish .* --provenance\b/)
  const used = steps.flatMap(({ uses = '' }) => uses.split('@')[0]!)
  for (const name of ['attest-build-provenance', 'attest-sbom']) {
    assert.ok(used.includes(`actions/${name}`), name)
  }
})

test('the release workflow publishes the checked artifacts after the checks', () => {
  const order = ['npm ci', 'npm run release -- --tag', 'npm publish', 'gh release create']
  const places = order.map((command) => commands.indexOf(command))
  assert.ok(places.every((place) => place >= 0))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  // Names of files that scripts/release.ts writes.
  const script = read('scripts/release.ts')
  for (const end of ['.tgz', '.cdx.json']) {
    assert.ok(script.includes(`\${manifest.name}-\${manifest.version}${end}`), end)
  }
  const named = `${commands}\n${steps.map((step) => JSON.stringify(step.with)).join('\n')}`
  for (const name of ['licenses.txt', 'SHA256SUMS', 'notes.md']) {
    assert.ok(named.includes(name) && script.includes(`'${name}'`), name)
  }
  assert.ok(named.includes('name }}.cdx.json') && named.includes('name }}.tgz'))
})

test('the release workflow uses no secret except its run token', () => {
  assert.doesNotMatch(read('.github/workflows/release.yml'), /secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN/)
})
