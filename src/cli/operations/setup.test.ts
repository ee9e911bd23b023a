import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { startModelServer } from '../../../test/support/asr/model-server.ts'
import { runHere } from '../../../test/support/cli/run-here.ts'
import { setupCommand } from './setup.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-setup-'))
const server = await startModelServer()
const env = {
  STENO_MODEL_MEMORY: '4000000000',
  STENO_MODELS_DIR: folder,
  STENO_MODELS_MIRROR: server.url,
}
after(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

test('without a terminal setup recommends models and downloads nothing', async () => {
  const { code, stdout } = await runHere(['setup', '--languages', 'ja'], env)
  assert.equal(code, 0)
  assert.match(stdout, /^This machine: \d+ cores, [\d.]+ [GM]B of memory for models, .* free in /)
  assert.match(stdout, /^Recommended:\n {2}whisper-[\w-]+: for ja \([\d.]+ [MG]B, .* of memory\)$/m)
  assert.match(stdout, /^To download them: steno models pull whisper-/m)
  assert.deepEqual([readdirSync(folder), server.seen], [[], []])
})

test('setup --yes starts the download without asking', async () => {
  const { code, stderr } = await runHere(['setup', '--yes', '--languages', 'ja'], env)
  assert.equal(code, 1)
  assert.match(stderr, /Cannot fetch .* of whisper-.* responds with 404/)
})

test('on a terminal setup asks for the languages and before downloading', {
  timeout: 60_000,
}, async () => {
  const make = () => Object.assign(new PassThrough(), { isTTY: true })
  const [stdin, stdout, stderr] = [make(), make(), make()]
  const { signal } = new AbortController()
  const before = server.seen.length
  const code = setupCommand.run([], { env, stdin, stdout, stderr, signal })
  let text = ''
  stderr.on('data', (chunk) => {
    text += chunk
  })
  for (const [question, answer] of [
    [/Which languages/, 'de, ja\n'],
    [/Download [\d.]+ [MG]B now\?/, 'n\n'],
  ] as const) {
    while (!question.test(text)) await setTimeout(10)
    stdin.write(answer)
  }
  assert.equal(await code, 0)
  assert.match(String(stdout.read()), / for (de, )?ja/)
  assert.equal(server.seen.length, before)
})
