/** The short form of `npm run fuzz`: each target for some seconds, with the seed of the run. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'node:test'
import { rounds, SEED } from '../../support/rounds.ts'

const folder = join(import.meta.dirname, '../../../fuzz')

for (const file of globSync('targets/*.fuzz.ts', { cwd: folder }).sort()) {
  const name = basename(file, '.fuzz.ts')
  test(`damaged input of ${name}`, { timeout: 300_000 }, () => {
    const options = [name, '--seconds', `${rounds(2)}`, '--seed', `${SEED}`]
    const args = ['--disable-warning=ExperimentalWarning', join(folder, 'main.ts'), ...options]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}\n${stderr}`)
    const { runs } = JSON.parse(stdout) as { runs: number }
    assert.ok(runs > 0)
  })
}
