import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createCpuBudget } from './cpu-budget.ts'
import { decodeFile } from './decode-file.ts'

test('allowed work grows with the decoded audio and the file size', () => {
  let taken = 0
  const work = createCpuBudget(() => taken)
  for (const [seconds, bytes, most] of [
    [0, 0, 30],
    [3600, 0, 930],
    [0, 1e9, 130],
  ] as const) {
    Object.assign(work, { seconds, bytes })
    taken = most
    work.check()
    taken = most + 1
    assert.throws(() => work.check(), { code: 'media_undecodable' })
  }
})

test('decoding is aborted when it takes too long for its output', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = fileURLToPath(new URL('../../../test/fixtures/jfk.flac', import.meta.url))
  const request = { task: 'decode' as const, file, nameHint: undefined, folder, maxSeconds: 60 }
  const steps = { heartbeat: async () => {}, onProgress: () => {} }
  const { duration } = await decodeFile(request, { ...steps, cpuSeconds: () => 30 })
  assert.equal(duration, 11)
  const slow = decodeFile(request, { ...steps, cpuSeconds: () => 100 })
  await assert.rejects(slow, {
    code: 'media_undecodable',
    message: /decoding took 100 s of processor time for/,
  })
})
