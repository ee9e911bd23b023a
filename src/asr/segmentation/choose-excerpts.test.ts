import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { chooseExcerpts, EXCERPT } from './choose-excerpts.ts'

const { signal } = new AbortController()
const RATE = 16_000
const HOUR = 3600 * RATE

type Remark = { second: number; level: number }

/** Writes silent channels with remarks of two seconds. */
function channelsOf(t: TestContext, remarks: readonly Remark[][], samples: number) {
  const folder = mkdtempSync(join(tmpdir(), 'steno-excerpts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return remarks.map((ofChannel, channel) => {
    const path = join(folder, `ch${channel}.pcm`)
    const file = openSync(path, 'w')
    ftruncateSync(file, samples * 2)
    for (const { second, level } of ofChannel) {
      const pcm = new Int16Array(2 * RATE).fill(level)
      writeSync(file, pcm, 0, pcm.byteLength, second * RATE * 2)
    }
    closeSync(file)
    return { channel, path, samples }
  })
}

test('a short recording is compared as a whole', async (t) => {
  const starts = await chooseExcerpts(channelsOf(t, [[], [], []], 40 * RATE), signal)
  assert.deepEqual(starts, [0, EXCERPT, 2 * EXCERPT])
})

test('a long recording is compared in 75 places, and where each channel is loudest', async (t) => {
  const spread = await chooseExcerpts(channelsOf(t, [[], []], HOUR), signal)
  assert.equal(spread.length, 75)
  // The third participant speaks once, quieter than the first, in a part that is not compared.
  const excerpt = [100, 101, 102, 103].find((n) => !spread.includes(n * EXCERPT))!
  const second = (excerpt * EXCERPT) / RATE + 3
  const first = { second: 7, level: 9000 }
  const leak = { second, level: 100 }
  const remarks = [[first, leak], [leak], [{ second, level: 2000 }]]
  const starts = await chooseExcerpts(channelsOf(t, remarks, HOUR), signal)
  assert.ok(starts.includes(excerpt * EXCERPT))
  assert.ok(spread.every((start) => starts.includes(start)))
  assert.ok(starts.length <= 78)
})
