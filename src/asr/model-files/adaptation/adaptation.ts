import { fileURLToPath } from 'node:url'
import { openBytes } from '../weight-files/byte-file.ts'
import { readFloats, readHeader } from '../weight-files/safetensors.ts'

/**
 * What fine-tuning changes of a model's weights, as numbers that are added to the published ones.
 * The change of a matrix is a product of two small ones (low-rank adaptation, Hu et al. 2021,
 * https://arxiv.org/abs/2106.09685).
 */
export type Adaptation = {
  /**
   * Returns the change of a weight, in the layout of PyTorch: `outer` rows of all that the row
   * multiplies. Undefined where the weight stays as published.
   */
  changeOf(weight: string): Float32Array | undefined
}

/**
 * Reads an adaptation in this folder, which `bench/asr/fitting/adaptation/train.py` wrote. The
 * arrays are `NAME.change`, or `NAME.lora_B` [outer, rank] and `NAME.lora_A` [rank, inner].
 */
export function readAdaptation(name: string): Adaptation {
  const path = fileURLToPath(new URL(`${name}.safetensors`, import.meta.url))
  const file = openBytes(path)
  const arrays = new Map(
    readHeader(file).map(([array, entry]) => [array, { ...entry, values: readFloats(entry) }]),
  )
  file.close()
  return {
    changeOf(weight) {
      const whole = arrays.get(`${weight}.change`)
      if (whole) return whole.values
      const [outer, inner] = [arrays.get(`${weight}.lora_B`), arrays.get(`${weight}.lora_A`)]
      return outer && inner && multiply(outer.values, inner.values, inner.sizes[0]!)
    },
  }
}

/** Multiplies [rows, rank] by [rank, columns]. */
function multiply(left: Float32Array, right: Float32Array, rank: number): Float32Array {
  const [rows, columns] = [left.length / rank, right.length / rank]
  const product = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < rank; k++) {
      const factor = left[row * rank + k]!
      for (let column = 0; column < columns; column++) {
        product[row * columns + column]! += factor * right[k * columns + column]!
      }
    }
  }
  return product
}
