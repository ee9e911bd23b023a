import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_CHANNELS } from '../../../src/audio/audio-limits.ts'
import { runDecoder } from '../../../src/audio/decoder/decoder-client.ts'
import { AppError } from '../../../src/errors.ts'
import {
  adts,
  flv,
  fragmentedMp4,
  id3,
  matroska,
  mp4,
  ogg,
} from '../../../test/support/audio/hostile-media.ts'
import { mutated } from '../../mutations.ts'
import { fuzz } from '../../run.ts'

/** Larger fixtures cover no format that the small ones lack. */
const MAX_SEED_BYTES = 200_000
/** Decoding a damaged fixture must not cost more than decoding an intact one. */
const limits = { memoryBytes: 300e6, cpuSeconds: 10, wallSeconds: 15 }
const maxSeconds = 60

const fixtures = join(import.meta.dirname, '../../../test/fixtures')
const seeds = [
  ...['.', 'encodings', 'films', 'irregular']
    .flatMap((folder) => globSync(`${folder}/*.*`, { cwd: fixtures }))
    .filter((name) => !/\.(md|json)$/.test(name))
    .map((name) => readFileSync(join(fixtures, name)))
    .filter((bytes) => bytes.length <= MAX_SEED_BYTES),
  ...[mp4([{ samples: 1000 }]), mp4([{ samples: 500 }], { packed: true }), fragmentedMp4(100)],
  ...[flv(50), adts(50), id3(), ogg(1), matroska({ tracks: 2, blocks: 1 })],
]

const folder = mkdtempSync(join(tmpdir(), 'steno-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const file = join(folder, 'recording')

/** The real decoder ends within its limits: with audio, or with an error that blames the file. */
async function run(task: 'probe' | 'decode'): Promise<void> {
  const { signal } = new AbortController()
  const request = { file, nameHint: undefined, folder, maxSeconds }
  try {
    if (task === 'probe') {
      const info = await runDecoder({ task, ...request }, { signal, limits })
      assert.ok(Number.isFinite(info.duration) && info.duration >= 0, `${info.duration} s`)
      assert.ok(info.channels >= 1 && info.channels <= MAX_CHANNELS && info.sampleRate >= 1000)
      return
    }
    const { duration, channels } = await runDecoder({ task, ...request }, { signal, limits })
    assert.ok(duration > 0 && duration <= maxSeconds, `${duration} s`)
    assert.ok(channels.length >= 1 && channels.length <= MAX_CHANNELS)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    assert.ok(error.status < 500, error.message)
    assert.doesNotMatch(error.message, /of memory|hung|worked for|took more/)
  }
}

await fuzz('media', mutated(seeds), async (bytes) => {
  writeFileSync(file, bytes)
  await run('probe')
  await run('decode')
})
