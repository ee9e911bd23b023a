import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { testClients, whyNoClients } from '../../scripts/test-clients.ts'
import { type ClientServer, clientSettings, startClientServer } from './client-server.ts'
import { checkLive, checkRecordings, checkRefusedSession } from './gladia-sdk.ts'
import { checkErrors } from './openai-node.ts'

// The most important clients of other people, unchanged; test/long/clients.test.ts has all.

const skip = whyNoClients('npm-newest') ?? false
let server: ClientServer
before(async () => {
  if (!skip) server = await startClientServer()
})
after(() => server?.close())

test('the SDK transcribes files and URLs, and understands errors', { skip }, () =>
  checkRecordings(server, 'newest'),
)
test('the SDK carries a live session', { skip }, () => checkLive(server, 'newest'))
test('the SDK sees that its key is refused', { skip }, () => checkRefusedSession(server, 'newest'))
test('OpenAI’s package knows each error as its own', { skip }, () => checkErrors(server, 'newest'))

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
