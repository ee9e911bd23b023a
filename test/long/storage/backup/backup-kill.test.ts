import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { runSteno, startSteno } from '../../../support/cli/run-steno.ts'
import { IS_SHORT } from '../../../support/random/rounds.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'
import { checkMoved, fillStore } from '../../../support/storage/upgrades/filled-store.ts'

const FILLING = { jobs: 200, objects: 300 }
const KILLS = IS_SHORT ? 6 : 12
/** When the last kill comes, after the start. */
const LAST_MS = 480

/** Runs a command and kills it after a while; returns whether it had ended by then. */
async function runAndKill(args: string[], env: Record<string, string>, ms: number) {
  const child = startSteno(args, { env })
  child.stdin.end()
  const ended = once(child, 'exit')
  await Promise.race([ended, delay(ms)])
  child.kill('SIGKILL')
  const [code] = await ended
  return code === 0
}

test('a backup and a restoration killed repeatedly complete as usual', async (t) => {
  const folder = await fillStore(t, FILLING)
  const target = join(await makeFolder(t), 'backups')
  const restored = await makeFolder(t)
  const commands: [string[], string][] = [
    [['backup', target], folder],
    [['restore', target], restored],
  ]
  for (const [args, STENO_DATA_DIR] of commands) {
    const env = { STENO_DATA_DIR }
    const startedAt = performance.now()
    await runAndKill([args[0]!, '--help'], env, 60_000)
    const startMs = performance.now() - startedAt
    for (let n = 0; n < KILLS; n++) {
      if (await runAndKill(args, env, startMs + (n * LAST_MS) / KILLS)) break
    }
    if ((await readdir(restored)).includes('steno.sqlite')) break
    const { code, stderr } = await runSteno(args, { env })
    assert.equal(code, 0, stderr)
  }
  const check = await runSteno(['backup', target, '--check'])
  assert.equal(check.code, 0, check.stderr)
  assert.deepEqual((await readdir(target)).includes('unfinished'), false)
  await checkMoved({ folder: restored }, FILLING)
})
