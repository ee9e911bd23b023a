import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'node:test'
import { openLiveAudio } from './live-audio.ts'

/** Four seconds. */
const SPEECH = join(import.meta.dirname, '../../../test/fixtures/speech.wav')

test('a file is streamed whose name is not UTF-8', {
  skip: process.platform !== 'linux' && 'other systems refuse such names',
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  await copyFile(SPEECH, Buffer.from(join(folder, 'caf\xe9.wav'), 'latin1'))
  const source = { kind: 'file', path: join(folder, 'caf\ufffd.wav'), isFast: true } as const
  const terminal = { env: {}, stdin: new Readable(), signal: t.signal }
  await using audio = await openLiveAudio(source, terminal)
  const chunks = await Array.fromAsync(audio.chunks(t.signal))
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  assert.equal(Math.round(bytes / 2 / audio.format.sample_rate), 4)
})
