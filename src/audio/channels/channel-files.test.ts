import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createChannelFiles } from './channel-files.ts'

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('each channel is written as 16-bit samples, with duplicates marked', (t) => {
  const folder = join(temporaryFolder(t), 'decoded')
  const files = createChannelFiles(folder, 3)
  t.after(files.close)
  const [a, b] = [Float32Array.of(0.5, -0.5), Float32Array.of(0.25, 0.25)]
  files.write([a, b, a])
  files.write([b, b, b])
  assert.deepEqual(files.finish(), [
    { channel: 0, path: join(folder, 'ch0.pcm'), samples: 4, sameAs: null },
    { channel: 1, path: join(folder, 'ch1.pcm'), samples: 4, sameAs: null },
    { channel: 2, path: join(folder, 'ch2.pcm'), samples: 4, sameAs: 0 },
  ])
  const bytes = readFileSync(join(folder, 'ch0.pcm'))
  assert.deepEqual(
    [0, 2, 4, 6].map((at) => bytes.readInt16LE(at)),
    [16_384, -16_384, 8192, 8192],
  )
})

test('a full disk is reported as storage_full', { skip: process.platform !== 'linux' }, (t) => {
  const folder = temporaryFolder(t)
  symlinkSync('/dev/full', join(folder, 'ch0.pcm'))
  const files = createChannelFiles(folder, 1)
  t.after(files.close)
  assert.throws(() => files.write([new Float32Array(100)]), { code: 'storage_full' })
})
