import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { ProgramError, type ProgramOptions, runProgram } from './run-program.ts'

const { signal } = new AbortController()
const env = { PATH: '/usr/bin:/bin' }
const usual: ProgramOptions = { input: '', env, limitMs: 60_000, maxBytes: 1000, signal }

function fails(why: RegExp) {
  return (error: unknown) => error instanceof ProgramError && why.test(error.message)
}

test('a program gets its input, a minimal environment and no shell', async () => {
  assert.equal(await runProgram('cat', [], { ...usual, input: 'grüß dich\n' }), 'grüß dich\n')
  assert.equal(await runProgram('env', [], usual), 'PATH=/usr/bin:/bin\n')
  assert.equal(await runProgram('echo', ['$(id); true'], usual), '$(id); true\n')
})

test('a program that does not read its input is not an error', async () => {
  assert.equal(await runProgram('true', [], { ...usual, input: 'x'.repeat(1_000_000) }), '')
  await assert.rejects(runProgram('false', [], usual), fails(/ended with 1/))
})

test('a folder of temporary files that cannot be written is reported', async (t) => {
  const before = process.env.TMPDIR
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  process.env.TMPDIR = join(await makeFolder(t), 'none')
  await assert.rejects(runProgram('cat', [], usual), fails(/needs the folder \S+none \(ENOENT\)/))
})

test('a program that writes too much is stopped', async () => {
  await assert.rejects(runProgram('yes', [], usual), fails(/wrote too much/))
})

test('a program is killed with its children on timeout or abort', async (t) => {
  const file = join(await makeFolder(t), 'pids')
  const pids = async () => (await readFile(file, 'utf8')).match(/\d+(?=\n)/g) ?? []
  await writeFile(file, '')
  const script = `sleep 1000 & echo $! >> ${file}; echo $$ >> ${file}; wait`
  await assert.rejects(runProgram('sh', ['-c', script], { ...usual, limitMs: 300 }), fails(/long/))
  // A busy machine may not have run it at all.
  const late = await pids()
  const leaving = new AbortController()
  const run = runProgram('sh', ['-c', `${script}`], { ...usual, signal: leaving.signal })
  const stopped = assert.rejects(run, /left/)
  while ((await pids()).length < late.length + 2) await new Promise(setImmediate)
  leaving.abort(new Error('left'))
  await stopped
  for (const pid of await pids()) {
    while (isRunning(Number(pid))) await new Promise(setImmediate)
  }
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
