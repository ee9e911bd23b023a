import { type RandomModel, size, vocabulary } from './models/random-whisper.ts'

/** Rows of a matrix. */
type Rows = Float64Array[]

const HEAD = size.hidden / size.heads

/**
 * The encoder in plain arithmetic: features mels × frames to a row per position
 * (https://github.com/openai/whisper/blob/main/whisper/model.py).
 */
export function encodePlainly(model: RandomModel, features: Float32Array, frames: number): Rows {
  let channels: Rows = Array.from({ length: size.mels }, (_, mel) => {
    return Float64Array.from(features.subarray(mel * frames, (mel + 1) * frames))
  })
  for (const stride of [1, 2]) channels = convolve(model, channels, stride)
  const positions = values(model, 'encoder/position_encodings/encodings')
  let states: Rows = Array.from(channels[0]!, (_, t) => {
    return Float64Array.from(channels, (row, i) => row[t]! + positions[t * size.hidden + i]!)
  })
  for (let layer = 0; layer < size.layers; layer++) {
    const name = `encoder/layer_${layer}`
    const normal = normalize(model, states, `${name}/self_attention/layer_norm`)
    const parts = split(linear(model, normal, `${name}/self_attention/linear_0`), 3)
    const attended = attend(parts[0]!, parts[1]!, parts[2]!, false).output
    states = add(states, linear(model, attended, `${name}/self_attention/linear_1`))
    states = feedForward(model, states, name)
  }
  return normalize(model, states, 'encoder/layer_norm')
}

/** What the decoder makes of all tokens at once: a row of logits, and weights, per token. */
export type PlainDecoding = {
  logits: Rows
  /** Cross-attention by layer and head: a row over the positions per token. */
  attention: Rows[][]
}

/** The decoder in plain arithmetic, without a cache. */
export function decodePlainly(
  model: RandomModel,
  audio: Rows,
  tokens: readonly number[],
): PlainDecoding {
  const embeddings = values(model, 'decoder/embeddings/weight')
  const positions = values(model, 'decoder/position_encodings/encodings')
  const { hidden } = size
  let states: Rows = tokens.map((token, t) => {
    return Float64Array.from({ length: hidden }, (_, i) => {
      return embeddings[token * hidden + i]! + positions[t * hidden + i]!
    })
  })
  const attention: Rows[][] = []
  for (let layer = 0; layer < size.layers; layer++) {
    const name = `decoder/layer_${layer}`
    const normal = normalize(model, states, `${name}/self_attention/layer_norm`)
    const projected = split(linear(model, normal, `${name}/self_attention/linear_0`), 3)
    const seen = attend(projected[0]!, projected[1]!, projected[2]!, true).output
    states = add(states, linear(model, seen, `${name}/self_attention/linear_1`))
    const crossed = normalize(model, states, `${name}/attention/layer_norm`)
    const query = linear(model, crossed, `${name}/attention/linear_0`)
    const encoded = split(linear(model, audio, `${name}/attention/linear_1`), 2)
    const cross = attend(query, encoded[0]!, encoded[1]!, false)
    attention.push(cross.weights)
    states = add(states, linear(model, cross.output, `${name}/attention/linear_2`))
    states = feedForward(model, states, name)
  }
  const logits = normalize(model, states, 'decoder/layer_norm').map((state) => {
    return Float64Array.from(vocabulary, (_, token) => dot(state, embeddings, token * hidden))
  })
  return { logits, attention }
}

function values(model: RandomModel, name: string): Float32Array {
  return model.get(name)!.values
}

function dot(row: Float64Array, weights: ArrayLike<number>, from: number): number {
  return row.reduce((sum, value, i) => sum + value * weights[from + i]!, 0)
}

function add(left: Rows, right: Rows): Rows {
  return left.map((row, t) => row.map((value, i) => value + right[t]![i]!))
}

function linear(model: RandomModel, input: Rows, name: string): Rows {
  const weight = values(model, `${name}/weight`)
  const bias = values(model, `${name}/bias`)
  return input.map((row) => {
    return Float64Array.from(bias, (offset, i) => offset + dot(row, weight, i * row.length))
  })
}

function normalize(model: RandomModel, input: Rows, name: string): Rows {
  const [gamma, beta] = [values(model, `${name}/gamma`), values(model, `${name}/beta`)]
  return input.map((row) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / row.length
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length
    const deviation = Math.sqrt(variance + 1e-5)
    return row.map((value, i) => ((value - mean) / deviation) * gamma[i]! + beta[i]!)
  })
}

function feedForward(model: RandomModel, states: Rows, name: string): Rows {
  const normal = normalize(model, states, `${name}/ffn/layer_norm`)
  const inner = linear(model, normal, `${name}/ffn/linear_0`).map((row) => row.map(gelu))
  return add(states, linear(model, inner, `${name}/ffn/linear_1`))
}

/** Splits the columns into equal parts. */
function split(input: Rows, parts: number): Rows[] {
  return Array.from({ length: parts }, (_, part) => {
    return input.map((row) => row.slice(part * size.hidden, (part + 1) * size.hidden))
  })
}

function attend(query: Rows, key: Rows, value: Rows, causal: boolean) {
  const output = query.map(() => new Float64Array(size.hidden))
  const weights = Array.from({ length: size.heads }, (_, head): Rows => {
    const [from, to] = [head * HEAD, (head + 1) * HEAD]
    return query.map((row, t) => {
      const scores = key.map((other, s) => {
        const hidden = causal && s > t
        return hidden ? 0 : Math.exp(dot(row.subarray(from, to), other, from) / Math.sqrt(HEAD))
      })
      const sum = scores.reduce((total, score) => total + score, 0)
      for (const [s, score] of scores.entries()) {
        for (let i = from; i < to; i++) output[t]![i]! += (score / sum) * value[s]![i]!
      }
      return Float64Array.from(scores, (score) => score / sum)
    })
  })
  return { output, weights }
}

function convolve(model: RandomModel, input: Rows, stride: number): Rows {
  const name = `encoder/conv${stride}`
  const weight = values(model, `${name}/weight`)
  const length = Math.ceil(input[0]!.length / stride)
  return Array.from(values(model, `${name}/bias`), (bias, output) => {
    return Float64Array.from({ length }, (_, t) => {
      let sum = bias
      for (const [channel, row] of input.entries()) {
        for (let tap = 0; tap < 3; tap++) {
          const at = t * stride + tap - 1
          sum += (row[at] ?? 0) * weight[(output * input.length + channel) * 3 + tap]!
        }
      }
      return gelu(sum)
    })
  })
}

/** The exact form, x · Φ(x), by the series of the error function. */
function gelu(x: number): number {
  const z = Math.min(Math.abs(x) / Math.SQRT2, 6)
  let term = z
  let sum = z
  for (let n = 1; n < 200; n++) {
    term *= (-z * z) / n
    sum += term / (2 * n + 1)
  }
  const erf = z > 4 ? 1 : (2 / Math.sqrt(Math.PI)) * sum
  return (x / 2) * (1 + Math.sign(x) * erf)
}
