import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { runHere } from '../../support/cli/run-here.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

/** Four seconds: two spans of speech with a pause between them. */
const SPEECH = join(import.meta.dirname, '../../fixtures/speech.wav')

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

function bench(...args: string[]) {
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  return runHere(['bench', 'live', SPEECH, '--seconds', '4', ...args], env)
}

test('steno bench live reports client latencies per number of sessions', async () => {
  const { code, stdout, stderr } = await bench('--sessions', '1', '--sessions', '2', '--json')
  const loads = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    loads.map(({ sessions }) => sessions),
    [1, 2],
  )
  for (const { ackMs, firstPartialMs, finalMs, refusal } of loads) {
    for (const latency of [ackMs, firstPartialMs, finalMs]) assert.ok(latency > 0)
    assert.equal(refusal, undefined, stderr)
  }
  assert.equal(code, loads.some(({ isInTime }) => isInTime) ? 0 : 1)
})

test('an unknown benchmark or an invalid number is rejected', async () => {
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  assert.equal((await runHere(['bench', 'files'], env)).code, 2)
  const { code, stderr } = await bench('--sessions', '0')
  assert.equal(code, 2)
  assert.match(stderr, /--sessions must be an integer of at least 1, not '0'/)
})
