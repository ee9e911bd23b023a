import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fillModuleCache } from './module-cache.ts'
import { bareEnvironment } from './sandbox/bare-environment.ts'
import { confine, findConfinement } from './sandbox/decoder-sandbox.ts'

const limits = {
  memoryBytes: 1e9,
  dataBytes: 2e9,
  fileBytes: 1e6,
  cpuSeconds: 20,
  wallSeconds: 60,
}

test('a confined decoder loads its compile cache and cannot write to it', {
  skip: !['isolated', 'files'].includes(findConfinement()),
}, async (t) => {
  const cache = mkdtempSync(join(tmpdir(), 'steno cache '))
  const earlier = process.env.NODE_COMPILE_CACHE
  t.after(() => {
    rmSync(cache, { recursive: true })
    delete process.env.NODE_COMPILE_CACHE
    if (earlier !== undefined) process.env.NODE_COMPILE_CACHE = earlier
  })
  process.env.NODE_COMPILE_CACHE = cache
  await fillModuleCache()
  const [compiled = '', filled = ''] = readdirSync(cache).sort().reverse()
  assert.match(filled, /^decoder-/)
  const count = readdirSync(join(cache, compiled)).length
  assert.ok(count > 50, `${count} compiled modules`)

  const code = `
    const folder = require('module').getCompileCacheDir()
    console.log(fs.readdirSync(folder).length)
    try { fs.writeFileSync(folder + '/x', '') } catch { console.log('read only') }`
  const program = { file: process.execPath, args: ['-e', code] }
  const { file, args } = confine(program, { limits, input: undefined, folder: undefined })
  const { stdout } = spawnSync(file, args, { env: bareEnvironment(), encoding: 'utf8' })
  assert.equal(stdout, `${count}\nread only\n`)
})
