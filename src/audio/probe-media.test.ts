import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decodeMedia } from './decode-media.ts'
import { probeMedia } from './probe-media.ts'

const signal = new AbortController().signal
const fixture = (name: string) =>
  fileURLToPath(new URL(`../../test/fixtures/${name}`, import.meta.url))

test('a codec without a decoder is refused before decoding, by its name or number', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, source: string, changes: Record<string, string>) => {
    const bytes = Buffer.from(readFileSync(fixture(source)))
    for (const [from, to] of Object.entries(changes)) {
      bytes.write(to, bytes.indexOf(from, 0, 'latin1'), 'latin1')
    }
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return path
  }
  // In a WAV file, the number of the codec follows the name and the size of the format chunk.
  const wav = write('g729.wav', 'encodings/adpcm.wav', { '\x11\0\x01\0': '\x33\x01' })
  const film = write('wbplus.m4a', 'encodings/speech.m4a', { mp4a: 'sawp', esds: 'free' })
  for (const [path, codec] of [
    [wav, '0x133'],
    [film, 'sawp'],
  ] as const) {
    const message = `Cannot decode the media: no decoder for the codec ${codec}`
    const expected = { code: 'media_undecodable', message }
    await assert.rejects(probeMedia(path, { signal }), expected)
    await assert.rejects(decodeMedia(path, folder, { signal, maxSeconds: 60 }), expected)
  }
})
