import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type DecodeMediaOptions, decodeMedia } from '../../../src/audio/decode-media.ts'

const { signal } = new AbortController()

/** Returns the path of a recording in `test/fixtures`. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))
}

/** Creates a folder that is deleted after the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Decodes a fixture, or the file of an absolute path, to the samples of its channels. */
export async function decode(
  t: TestContext,
  file: string,
  options: Partial<DecodeMediaOptions> = {},
) {
  const path = isAbsolute(file) ? file : fixture(file)
  const base = { nameHint: path, signal, maxSeconds: 60 }
  const media = await decodeMedia(path, temporaryFolder(t), { ...base, ...options })
  const channels = media.channels.map((channel) => {
    const bytes = readFileSync(channel.path)
    assert.equal(bytes.length, 2 * channel.samples)
    return new Int16Array(bytes.buffer, bytes.byteOffset, channel.samples)
  })
  return { ...media, channels, sameAs: media.channels.map(({ sameAs }) => sameAs) }
}

/** Milliseconds by which `sound` is later than `reference`, where the two match best. */
export function lateness(audio: Int16Array, reference: Int16Array): number {
  let [best, bestScore] = [0, Number.NEGATIVE_INFINITY]
  const end = Math.min(48_000, reference.length)
  for (let shift = -1600; shift <= 9600; shift += 4) {
    let score = 0
    for (let i = 3200; i < end; i += 40) score += reference[i]! * (audio[i + shift] ?? 0)
    if (score > bestScore) [best, bestScore] = [shift, score]
  }
  return best / 16
}
