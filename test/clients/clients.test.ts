import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testClients } from '../../scripts/tests/test-tools/test-clients.ts'
import { clientSettings } from './client-server.ts'

// The clients themselves run in test/long/packages/clients.test.ts.

const page = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8')

test('docs/clients.md names each client with the versions that run here', () => {
  for (const sets of Object.values(testClients)) {
    for (const [name, newest] of Object.entries(sets.newest)) {
      const previous = (sets.previous as Record<string, string>)[name]
      assert.ok(page.includes(`| \`${name}\` | ${newest}, ${previous} |`), name)
    }
  }
})

test('docs/clients.md shows the settings that the clients run with', () => {
  for (const [name, value] of Object.entries(clientSettings)) {
    assert.ok(page.includes(`\n${name}=${value}\n`), name)
  }
})
