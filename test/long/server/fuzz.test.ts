/** The short form of `npm run fuzz`: each target for some seconds, with the seed of the run. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { IS_SHORT, rounds, SEED } from '../../support/random/rounds.ts'

const SECONDS = IS_SHORT ? 0.3 : rounds(2)
const folder = join(import.meta.dirname, '../../../fuzz')

function fuzz(name: string, seconds: number): { runs: number } {
  const options = [name, '--seconds', `${seconds}`, '--seed', `${SEED}`]
  const args = ['--disable-warning=ExperimentalWarning', join(folder, 'main.ts'), ...options]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  return JSON.parse(stdout) as { runs: number }
}

test('a fuzz target without time runs one input', () => {
  assert.equal(fuzz('lists', 1e-9).runs, 1)
})

test('a finding is reported even if the time ends before it is minimized', () => {
  const run = pathToFileURL(join(folder, 'run.ts'))
  const program = `
    import fc from 'fast-check'
    import { fuzz } from '${run}'
    let calls = 0
    await fuzz('slow', fc.array(fc.integer(), { minLength: 50 }), async () => {
      if (calls++ === 0) return
      await new Promise((resolve) => setTimeout(resolve, 50))
      throw new Error('a finding')
    })`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
  const options = ['--', '--seconds', '0.3', '--seed', '1']
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...options], {
    encoding: 'utf8',
  })
  assert.equal(status, 1, `${stdout}\n${stderr}`)
  assert.match(stdout + stderr, /a finding/)
})

for (const file of globSync('targets/*/*.fuzz.ts', { cwd: folder }).sort()) {
  const name = basename(file, '.fuzz.ts')
  test(`damaged input of ${name} causes no unexpected error`, { timeout: 300_000 }, () => {
    assert.ok(fuzz(name, SECONDS).runs > 0)
  })
}
