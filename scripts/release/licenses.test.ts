import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { describeLicenses, reportLicenses } from './licenses.ts'

const root = join(import.meta.dirname, '../..')

/** The names that are refused among packages with these licenses. */
function refused(licenses: Record<string, string | undefined>): string[] {
  const packages = Object.entries(licenses).map(([name, license]) => {
    return [`node_modules/${name}`, { version: '1.0.0', ...(license && { license }) }]
  })
  return reportLicenses(Object.fromEntries(packages)).refused.map(({ name }) => name)
}

test('every package of a release has an acceptable or reviewed license', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const report = reportLicenses(packages)
  assert.deepEqual(report.refused, [])
  const names = report.accepted.map(({ name }) => name)
  assert.ok(names.includes('fastify') && names.includes('preact') && !names.includes('vite'))
})

test('reportLicenses refuses copyleft, unknown and unclear licenses and accepts a choice', () => {
  const licenses = {
    gpl: 'GPL-3.0-only',
    agpl: 'AGPL-3.0-or-later',
    sspl: 'SSPL-1.0',
    lgpl: 'LGPL-2.1-only',
    none: undefined,
    file: 'SEE LICENSE IN LICENSE',
    both: 'MIT AND GPL-2.0-only',
    nested: '(MIT OR (ISC AND GPL-2.0-only))',
    own: 'UNLICENSED',
    choice: '(MIT OR GPL-3.0-only)',
    mit: 'MIT',
    several: 'MIT AND ISC',
  }
  assert.deepEqual(refused(licenses), [
    ...['gpl', 'agpl', 'sspl', 'lgpl', 'none', 'file', 'both', 'nested', 'own'],
  ])
})

test('a reviewed package whose license changes is refused until it is reviewed again', () => {
  assert.deepEqual(refused({ '@jitsi/rnnoise-wasm': undefined }), [])
  assert.deepEqual(refused({ '@jitsi/rnnoise-wasm': 'GPL-3.0-only' }), ['@jitsi/rnnoise-wasm'])
})

test('the license report lists refused packages first and gives reasons', () => {
  const report = describeLicenses({
    accepted: [{ name: 'a', version: '1.0.0', license: 'MPL-2.0', reason: 'not loaded' }],
    refused: [{ name: 'z', version: '2.0.0', license: 'GPL-3.0-only' }],
  })
  assert.match(
    report,
    /REFUSED z 2\.0\.0: GPL-3\.0-only\na 1\.0\.0: MPL-2\.0\n {2}reviewed: not loaded\n/,
  )
})
