import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createToneWav } from '../../../test/support/audio/recordings.ts'
import { checkLimits } from './check-limits.ts'

const { signal } = new AbortController()

/** Returns the path of a WAVE file, 16,000 bytes a second. */
async function wave(t: TestContext, seconds: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-limits-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'long.wav')
  await writeFile(path, createToneWav(seconds))
  return path
}

function check(path: string, limits: { bytes: number; seconds: number } | undefined, large = 0) {
  const getLimits = async () => {
    return limits && { max_file_bytes: limits.bytes, max_audio_seconds: limits.seconds }
  }
  return checkLimits(path, { getLimits, signal, large })
}

test('a file above the size limit is rejected before its upload', async (t) => {
  const path = await wave(t, 10)
  const refusal = /it has 160044 bytes, the server accepts 160000 \(STENO_MAX_FILE_BYTES\)$/
  await assert.rejects(check(path, { bytes: 160_000, seconds: 10 }), refusal)
  await check(path, { bytes: 170_000, seconds: 10 })
  await check(path, undefined)
  await check(path, { bytes: 160_000, seconds: 10 }, 170_000)
})

test('a recording above the duration limit is rejected before its upload', async (t) => {
  const path = await wave(t, 60)
  const refusal = /it is 60 s long, the server accepts 59 s \(STENO_MAX_AUDIO_S\)$/
  await assert.rejects(check(path, { bytes: 1e9, seconds: 59 }), refusal)
  await check(path, { bytes: 1e9, seconds: 60 })
})

test('an unreadable file is left to the server', async (t) => {
  const path = await wave(t, 10)
  await writeFile(path, 'x'.repeat(100_000))
  await check(path, { bytes: 1e9, seconds: 1 })
  await check('/no/such/file', { bytes: 1, seconds: 1 })
})
