import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadModel } from '../../src/asr/onnx/onnx-runtime.ts'
import { networkBytes } from './small-network.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-convert-'))
after(() => rmSync(folder, { recursive: true }))
const [source, target] = [join(folder, 'final.raw'), join(folder, 'out.onnx')]

function convert(...args: string[]): { status: number | null; stderr: string } {
  const script = join(import.meta.dirname, 'convert-speaker-model.ts')
  const options = ['--disable-warning=ExperimentalWarning', script, ...args]
  return spawnSync(process.execPath, options, { encoding: 'utf8' })
}

test('the conversion script writes a loadable model', async () => {
  writeFileSync(source, networkBytes())
  assert.equal(convert(source, target).status, 0)
  const session = await loadModel(target)
  assert.deepEqual(session.inputNames, ['features', 'windows'])
  await session.release()
})

test('a damaged source file or a missing argument exits with an error message', () => {
  writeFileSync(source, networkBytes().subarray(0, 900))
  const damaged = convert(source, join(folder, 'none.onnx'))
  assert.equal(damaged.status, 1)
  assert.match(damaged.stderr, /^Cannot read the network: /)
  const bare = convert()
  assert.equal(bare.status, 2)
  assert.match(bare.stderr, /^Usage: /)
})
