import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createResampler } from '../../../audio/resample.ts'
import { convertAudio } from './audio-conversion.ts'

for (const sampleRate of [8000, 16_000, 44_100, 48_000]) {
  test(`resampling from ${sampleRate} Hz is independent of the chunk sizes`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'steno-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'sound')
    const frames = sampleRate + 37
    const left = Int16Array.from({ length: frames }, (_, i) => ((i * 7919) % 20_011) - 10_000)
    const interleaved = new Int16Array(2 * frames)
    for (const [i, value] of left.entries()) interleaved.set([value, -value], 2 * i)
    writeFileSync(path, Buffer.concat([Buffer.from('header'), new Uint8Array(interleaved.buffer)]))
    const format = { encoding: 's16' as const, sampleRate, channels: 2 }
    const audio = { path, start: 6, format }

    const chunks: number[] = []
    for (let recognized = 1000; ; recognized = Math.min(frames, recognized + 2311)) {
      const isEnd = recognized === frames
      for (let got = 1; got > 0; ) {
        const from = chunks.length
        const [plane] = convertAudio(
          { ...audio, frames: recognized, isEnd },
          { from, to: from + 512 },
        )
        chunks.push(...plane!)
        got = plane!.length
      }
      if (isEnd) break
    }

    const resampler = createResampler(sampleRate, 16_000)
    const whole = [
      ...resampler.write(Float32Array.from(left, (v) => v / 32_768)),
      ...resampler.flush(),
    ]
    assert.deepEqual(chunks, whole)
  })
}
