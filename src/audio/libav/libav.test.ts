import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { assertBuilt } from '../../../test/support/build-checksums.ts'
import { compileWasm, listImports } from '../../web-assembly.ts'
import { Libav } from './libav.ts'

test('libav.wasm was built of the sources beside it, and its license is there', () => {
  const names = assertBuilt(join(import.meta.dirname, 'wasm/libav.sha256'))
  assert.deepEqual(names, ['build-libav.sh', 'COPYING.LGPLv2.1', 'libav.c', 'libav.wasm'])
})

test('libav can call nothing but the function that reads the recording', () => {
  const module = compileWasm(new URL('wasm/libav.wasm', import.meta.url))
  const system = 'wasi_snapshot_preview1' // of which every function refuses
  const others = listImports(module).filter((one) => one.module !== system)
  assert.deepEqual(others, [{ module: 'host', name: 'read', kind: 'function' }])
})

test('a crash of libav is the fault of the file, and its instance can only be closed', () => {
  const libav = new Libav()
  const outside = 0x7fff_fff0
  assert.throws(() => libav.calls.input_tracks(outside), {
    code: 'media_undecodable',
    message: /the decoder crashed \(memory access out of bounds\)/,
  })
  assert.throws(() => libav.calls.numbers(), { code: 'media_undecodable' })
  assert.doesNotThrow(() => libav.calls.input_close(outside))
  assert.doesNotThrow(() => new Libav().calls.input_close(outside))
  assert.ok(new Libav().calls.numbers() > 0)
})

test('an error of the function that reads a file is not taken for one of libav', () => {
  const libav = new Libav()
  libav.write('wav')
  const recording = libav.add(() => {
    throw new Error('the disk is gone')
  })
  assert.throws(() => libav.calls.input_open(recording, 1000, 1), /the disk is gone/)
  assert.throws(() => libav.calls.numbers(), { code: 'media_undecodable' })
})

test('errors that demuxers borrow from the system blame the file', () => {
  const [unspecific, ofDisk] = [-1, -29]
  assert.throws(() => new Libav().require(unspecific), /the file is damaged/)
  assert.throws(() => new Libav().require(ofDisk), /the file is damaged/)
})
