import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type OnnxTensor, readModel } from '../../onnx/onnx.ts'
import { floatOf } from '../graphs/int8-matmul.ts'
import { openBytes } from '../weight-files/byte-file.ts'
import { readFloats, readHeader } from '../weight-files/safetensors.ts'
import { readAdaptation } from './adaptation.ts'

const file = openBytes(fileURLToPath(new URL('moonshine-base-noise.safetensors', import.meta.url)))
const arrays = new Map(readHeader(file).map(([name, entry]) => [name, readFloats(entry)]))
file.close()

test('the change of a matrix is the product of its two parts', () => {
  const [rank, inner, outer] = [16, 416, 1664]
  const change = readAdaptation('moonshine-base-noise').changeOf('layers.3.mlp.fc1.weight')!
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
  const adaptation = readAdaptation('moonshine-base-noise')
  assert.deepEqual(adaptation.changeOf('conv2.bias'), arrays.get('conv2.bias.change'))
  assert.equal(adaptation.changeOf('conv1.bias'), undefined)
})

/** Reads constants of an installed encoder. */
function constantsOf(graph: string) {
  const path = new URL(`../../../../models/moonshine-base/${graph}.onnx`, import.meta.url)
  const { initializer } = readModel(fileURLToPath(path)).graph
  const tensor = (name: string) => initializer.find((constant) => constant.name === name)!
  const floats = ({ raw_data }: OnnxTensor) => new Float32Array(new Uint8Array(raw_data).buffer)
  const matrix = 'onnx::MatMul_2133'
  const step = floatOf(tensor(`${matrix}_scale`))
  const { raw_data, int32_data = [] } = tensor(`${matrix}_zero_point`)
  const zero = int32_data[0] ?? raw_data[0]!
  return {
    float: (name: string, at: number) => floats(tensor(name))[at]!,
    gains: initializer.filter(({ name }) => name.startsWith('onnx::Mul_')).map(floats),
    step,
    /** The number in a row and a column of the matrix `layers.3.mlp.fc1.weight`. */
    product: (row: number, column: number) =>
      (tensor(`${matrix}_quantized`).raw_data[row * 1664 + column]! - zero) * step,
  }
}

const [kernel, channels, outer] = [3, 832, 416]
/** Numbers of the npm package, and where they are in our graph and in PyTorch's layout. */
const publishedNumbers = [
  ['conv2.bias', 0.34330788, 1, 1],
  ['layers.0.input_layernorm.weight', 0.4140628, 1, 1],
  ['conv3.weight', -0.021122813, (channels + 2) * outer + 1, channels * kernel + 2 * kernel + 1],
] as const
const [publishedGain, publishedFactor] = [0.8629412, -0.1162099]

test('every kind of weight of the encoder for noise is the published one with its change', () => {
  const { float, gains, product, step } = constantsOf('encoder-noise')
  const { changeOf } = readAdaptation('moonshine-base-noise')
  for (const [name, published, here, there] of publishedNumbers) {
    const expected = published + changeOf(name)![there]!
    assert.ok(Math.abs(float(name, here) - expected) < 1e-6, name)
    assert.ok(Math.abs(expected - published) > 1e-4, name)
  }
  const gain = publishedGain + changeOf('groupnorm.weight')![1]!
  assert.ok(gains.some((values) => Math.abs(values[1]! - gain) < 1e-6))
  const expected = publishedFactor + changeOf('layers.3.mlp.fc1.weight')![1088 * 416 + 111]!
  assert.ok(Math.abs(product(111, 1088) - expected) <= step * 0.51)
})

test('the encoder for clear speech has the published weights', () => {
  const { float, gains, product, step } = constantsOf('encoder')
  for (const [name, published, here] of publishedNumbers)
    assert.ok(Math.abs(float(name, here) - published) < 1e-6, name)
  assert.ok(gains.some((values) => Math.abs(values[1]! - publishedGain) < 1e-6))
  assert.ok(Math.abs(product(111, 1088) - publishedFactor) <= step * 0.51)
})
