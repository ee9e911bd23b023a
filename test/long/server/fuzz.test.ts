/** The short form of `npm run fuzz`: each target for some seconds, with the seed of the run. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'node:test'
import { IS_SHORT, rounds, SEED } from '../../support/rounds.ts'

const SECONDS = IS_SHORT ? 1 : rounds(2)
const folder = join(import.meta.dirname, '../../../fuzz')

function fuzz(name: string, seconds: number): { runs: number } {
  const options = [name, '--seconds', `${seconds}`, '--seed', `${SEED}`]
  const args = ['--disable-warning=ExperimentalWarning', join(folder, 'main.ts'), ...options]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  return JSON.parse(stdout) as { runs: number }
}

test('a target whose time is over at once tries one input', () => {
  assert.equal(fuzz('lists', 1e-9).runs, 1)
})

for (const file of globSync('targets/*/*.fuzz.ts', { cwd: folder }).sort()) {
  const name = basename(file, '.fuzz.ts')
  test(`damaged input of ${name}`, { timeout: 300_000 }, () => {
    assert.ok(fuzz(name, SECONDS).runs > 0)
  })
}
