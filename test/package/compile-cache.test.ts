import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { makeFolder } from '../support/storage/test-storage.ts'

const program = join(import.meta.dirname, '../../bin/steno.mjs')

test('an empty NODE_COMPILE_CACHE does not fill the current folder', async (t) => {
  const cwd = await makeFolder(t)
  const env = { ...process.env, NODE_COMPILE_CACHE: '' }
  await promisify(execFile)(process.execPath, [program, '--version'], { cwd, env })
  assert.deepEqual(await readdir(cwd), [])
})
