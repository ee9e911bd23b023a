import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Libav } from './libav.ts'

const folder = join(import.meta.dirname, 'wasm')

test('libav.wasm was built of the sources beside it', () => {
  const lines = readFileSync(join(folder, 'libav.sha256'), 'utf8').trim().split('\n')
  const names = lines.map((line) => {
    const [hash, name = ''] = line.split(/ +/)
    const found = createHash('sha256').update(readFileSync(join(folder, name)))
    assert.equal(found.digest('hex'), hash, `${name} has changed: run build-libav.sh`)
    return name
  })
  assert.deepEqual(names, ['build-libav.sh', 'libav.c', 'libav.wasm'])
})

test('a crash of libav is the fault of the file, and its instance does nothing more', () => {
  const libav = new Libav()
  const outside = 0x7fff_fff0
  assert.throws(() => libav.calls.input_tracks(outside), {
    code: 'media_undecodable',
    message: /the decoder crashed \(memory access out of bounds\)/,
  })
  assert.equal(libav.calls.input_tracks(outside), 0)
  assert.doesNotThrow(() => libav.calls.input_close(outside))
  assert.ok(new Libav().calls.numbers() > 0)
})

test('an error of the function that reads a file is not taken for one of libav', () => {
  const libav = new Libav()
  libav.write('wav')
  const recording = libav.add(() => {
    throw new Error('the disk is gone')
  })
  assert.throws(() => libav.calls.input_open(recording, 1000, 1), /the disk is gone/)
})
