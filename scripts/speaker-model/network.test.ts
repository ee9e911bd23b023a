import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNnet3 } from './kaldi-reader.ts'
import { readXVectorNetwork } from './network.ts'
import { networkBytes } from './small-network.fixture.ts'

test('the layers are found from the output back to the input', () => {
  const { layers, embedding, varianceFloor } = readXVectorNetwork(readNnet3(networkBytes()))
  const offsets = layers.map(({ affine }) => affine.offsets)
  assert.deepEqual(offsets, [[-1, 0, 1], [-2, 0, 2], [0]])
  assert.deepEqual([embedding.affine.weights.rows, embedding.affine.weights.columns], [3, 14])
  assert.equal(varianceFloor, Math.fround(0.01))
})

test('a network of an unsupported form is refused with the name of the mismatch', () => {
  const read = (from: string, to: string) => () => {
    return readXVectorNetwork(readNnet3(networkBytes((latin) => latin.replaceAll(from, to))))
  }
  assert.throws(
    read('name=output input=t4.affine', 'name=output input=t5.affine'),
    /t5\.affine .*missing/,
  )
  assert.throws(read('RectifiedLinear', 'SigmoidComponen'), /t3\.relu .*SigmoidComponenComponent/)
  const loop = 'Append(Offset(t3.norm, -1), t3.norm, Offset(t3.norm, 1))'
  const first = 'Append(Offset(input, -1), input, Offset(input, 1))'
  assert.throws(read(first, loop), /leads back to itself/)
  assert.throws(
    read('Append(Offset(t1.norm, -2)', 'Append(Offset(input, -2)'),
    /joined with others/,
  )
  assert.throws(
    read('component=t4.relu input=t4.affine', 'component=t4.relu input=pooling'),
    /t4\.affine .*no RectifiedLinearComponent follows/,
  )
  assert.throws(
    read('component=t4.norm input=t4.relu', 'component=t3.norm input=t4.relu'),
    /output .*scales 7 numbers of 3/,
  )
  assert.throws(read('dim=4', 'dim=5'), /layer 1 .*12 inputs of 5/)
  assert.throws(
    read('input=Round(pooling, 1)', 'input=Append(pooling, pooling)'),
    /output .*14 inputs/,
  )
  assert.throws(read('<StatsVar> FV', '<StatsVer> FV'), /StatsVar is no vector/)
  assert.throws(read('<TargetRms> \x04\0\0\0?', '<TargetRms> \x04\0\0\0\xbf'), /below zero/)
})
