import type { Rows } from '../../../model-files/weight-files/safetensors.ts'

/**
 * The named arrays of a model file, read on demand: a file of gigabytes is never in memory as a
 * whole. Names and layout are those of CTranslate2 (`encoder/layer_0/ffn/linear_0/weight`),
 * whatever the format of the file: weights of products are [outputs, inputs], queries, keys and
 * values are one product.
 */
export type WeightFile = {
  /** The sizes of an array; undefined when there is none of this name. */
  sizes(name: string): readonly number[] | undefined
  /** The values of an array, or of some rows of it. Throws `WeightFileError` if it is missing. */
  read(name: string, rows?: Rows): Float32Array
  close(): void
}
