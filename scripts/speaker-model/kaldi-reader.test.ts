import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNnet3 } from './kaldi-reader.ts'
import { networkBytes } from './small-network.fixture.ts'

test('readNnet3 reads the wiring and the components with their fields', () => {
  const { wiring, components } = readNnet3(networkBytes())
  assert.equal(wiring[0], 'input-node name=input dim=4')
  assert.equal(wiring.at(-1), 'output-node name=output input=t4.affine objective=linear')
  assert.equal(components.size, 14)
  const norm = components.get('t1.norm')
  assert.equal(norm?.type, 'BatchNormComponent')
  assert.deepEqual(norm.fields.get('TestMode'), { kind: 'switch', on: false })
  assert.deepEqual(norm.fields.get('Count'), { kind: 'number', float: 9, integer: 9 })
  const affine = components.get('t1.affine')?.fields
  assert.deepEqual(components.get('extraction')?.fields.get('IncludeVarinance'), {
    kind: 'switch',
    on: true,
  })
  const weights = affine?.get('LinearParams')
  assert.ok(weights?.kind === 'matrix')
  assert.deepEqual([weights.matrix.rows, weights.matrix.columns], [6, 12])
  const period = affine?.get('UpdatePeriod')
  assert.ok(period?.kind === 'number' && period.integer === 4)
})

test('a file truncated anywhere throws an error that names the byte position', () => {
  const whole = networkBytes()
  for (let length = 0; length < whole.length; length += 13) {
    assert.throws(
      () => readNnet3(whole.subarray(0, length)),
      /Cannot read the network: .*\(byte \d+/,
    )
  }
  assert.throws(() => readNnet3(whole.subarray(0, whole.length - 1)), /\(byte \d+/)
})

test('readNnet3 describes the damage of a malformed file', () => {
  const damaged = (from: string, to: string) => () =>
    readNnet3(networkBytes((s) => s.replace(from, to)))
  assert.throws(damaged('\0B', 'xx'), /not a binary Kaldi file/)
  assert.throws(damaged('<NumComponents>', '<NumComponentz>'), /<NumComponents> belongs/)
  assert.throws(damaged('<Epsilon> \x04', '<Epsilon> \x03'), /a number of 3 bytes/)
  assert.throws(damaged('<Epsilon>', 'Epsilon'), /is not the name of a field/)
  assert.throws(damaged('FV \x04\x06\0\0\0', 'FV \x04\xff\xff\xff\xff'), /a length of -1/)
})
