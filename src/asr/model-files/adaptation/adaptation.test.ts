import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openBytes } from '../weight-files/byte-file.ts'
import { readFloats, readHeader } from '../weight-files/safetensors.ts'
import { readAdaptation } from './adaptation.ts'

const file = openBytes(fileURLToPath(new URL('moonshine-base.safetensors', import.meta.url)))
const arrays = new Map(readHeader(file).map(([name, entry]) => [name, readFloats(entry)]))
file.close()

test('the change of a matrix is the product of its two parts', () => {
  const [rank, inner, outer] = [8, 416, 1664]
  const change = readAdaptation('moonshine-base')!.changeOf('layers.3.mlp.fc1.weight')!
  assert.equal(change.length, outer * inner)
  const left = arrays.get('layers.3.mlp.fc1.weight.lora_B')!
  const right = arrays.get('layers.3.mlp.fc1.weight.lora_A')!
  for (const [row, column] of [
    [0, 0],
    [5, 411],
    [1663, 17],
  ] as const) {
    let sum = 0
    for (let k = 0; k < rank; k++) sum += left[row * rank + k]! * right[k * inner + column]!
    assert.ok(Math.abs(change[row * inner + column]! - sum) < 1e-7)
  }
})

test('the change of a bias is stored as it is; other weights stay as published', () => {
  const adaptation = readAdaptation('moonshine-base')!
  assert.deepEqual(adaptation.changeOf('conv2.bias'), arrays.get('conv2.bias.change'))
  assert.equal(adaptation.changeOf('conv1.bias'), undefined)
})

test('a model without a file has no adaptation', () => {
  assert.equal(readAdaptation('moonshine-tiny'), undefined)
})
