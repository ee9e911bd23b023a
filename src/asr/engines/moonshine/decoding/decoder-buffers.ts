import { floats, floatsOf, type Tensor, type Tensors } from '../../../onnx/onnx-runtime.ts'
import type { MoonshineDimensions } from '../dimensions.ts'

/** Tokens of the model's vocabulary. */
export const VOCABULARY = 32_768
/** Tokens from here on are never text and are excluded from the choice. */
export const PRINTABLE = 32_000
/** The arrays of keys and values grow in steps of this many tokens. */
const GROWTH_TOKENS = 64

/** The size of a decoder call: it reads `tokens` tokens of each row, after `past` earlier ones. */
export type DecoderCall = { rows: number; tokens: number; past: number; width: number }

/**
 * The arrays that the graphs write their outputs into, kept from call to call (decision 0111).
 * Otherwise ONNX Runtime allocates several megabytes per token, which triggers a V8 garbage
 * collection every few tokens and repeated page faults.
 */
export class DecoderBuffers {
  readonly #dimensions: MoonshineDimensions
  readonly #arrays = new Map<string, Float32Array>()
  /** A call reads the keys and values that the last one wrote, so two sets of arrays alternate. */
  #parity: 'even' | 'odd' = 'even'

  constructor(dimensions: MoonshineDimensions) {
    this.#dimensions = dimensions
  }

  /** Copies the encoder's output for a segment into an input of `width` frames, padded with 0. */
  encoderStates(states: Float32Array, width: number): Tensor {
    const { hidden } = this.#dimensions
    const array = this.#allocate('states', width * hidden)
    array.set(states)
    array.fill(0, states.length)
    return floats(array, [1, width, hidden])
  }

  /** Returns the arrays for the keys and values of the audio; one call fills one of `rows` rows. */
  encoderCaches(rows: number, width: number): Tensors {
    const { layers, heads, headSize } = this.#dimensions
    const names = cacheNames(layers, 'encoder')
    const dims = [rows, heads, width, headSize]
    return Object.fromEntries(names.map((name) => [name, this.#tensor(name, dims)]))
  }

  /** Returns the arrays that the next call of the decoder fills. */
  decoderOutputs({ rows, tokens, past, width }: DecoderCall): Tensors {
    const { layers, heads, headSize, alignmentHeads } = this.#dimensions
    this.#parity = this.#parity === 'even' ? 'odd' : 'even'
    const all = past + tokens
    const space = rows * heads * headSize * GROWTH_TOKENS * Math.ceil(all / GROWTH_TOKENS)
    const outputs: Tensors = {
      logits: this.#tensor('logits', [rows, tokens, VOCABULARY]),
      largest_logit: this.#tensor('largest_logit', [rows, tokens]),
      largest_probability: this.#tensor('largest_probability', [rows, tokens]),
      attention: this.#tensor('attention', [rows, alignmentHeads, tokens, width]),
    }
    for (const name of cacheNames(layers, 'decoder')) {
      const dims = [rows, heads, all, headSize]
      outputs[name] = this.#tensor(name, dims, { key: `${name}.${this.#parity}`, space })
    }
    return outputs
  }

  /** Copies rows of key/value caches; `rows` may be in any order and name a row several times. */
  gatherRows(caches: Tensors, rows: readonly number[]): Tensors {
    const gathered = Object.entries(caches).map(([name, tensor]) => {
      const [all = 1, ...rest] = tensor.dims
      const data = floatsOf(tensor)
      const size = data.length / all
      const length = rows.length * size
      const copy = this.#allocate(`${name}.gathered`, length, length * 2)
      for (const [to, from] of rows.entries()) {
        copy.set(data.subarray(from * size, (from + 1) * size), to * size)
      }
      return [name, floats(copy, [rows.length, ...rest])] as const
    })
    return Object.fromEntries(gathered)
  }

  #tensor(
    name: string,
    dims: readonly number[],
    { key = name, space = 0 }: { key?: string; space?: number } = {},
  ): Tensor {
    const length = dims.reduce((product, size) => product * size, 1)
    return floats(this.#allocate(key, length, space), dims)
  }

  /** Returns an array whose contents are undefined. */
  #allocate(key: string, length: number, space = 0): Float32Array {
    let array = this.#arrays.get(key)
    if (!array || array.length < length) {
      array = new Float32Array(Math.max(length, space))
      this.#arrays.set(key, array)
    }
    return array.subarray(0, length)
  }
}

/** Returns the names of the keys and values that a call writes. */
function cacheNames(layers: number, source: 'encoder' | 'decoder'): string[] {
  return Array.from({ length: layers }, (_, layer) => [
    `present.${layer}.${source}.key`,
    `present.${layer}.${source}.value`,
  ]).flat()
}

/** Returns the keys and values before the first token, as inputs of the decoder. */
export function emptyDecoderCaches(
  { layers, heads, headSize }: MoonshineDimensions,
  rows: number,
): Tensors {
  const none = floats(new Float32Array(0), [rows, heads, 0, headSize])
  return Object.fromEntries(cacheNames(layers, 'decoder').map((name) => [name, none]))
}
