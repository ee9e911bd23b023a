import { elementType } from '../../onnx/onnx.ts'
import type { Graph } from '../../onnx/onnx-graph.ts'

/**
 * The number of pairs in each head that are rotated; pair `i` rotates by 10000^(-i/16) per
 * position.
 */
const PAIRS = 16
const ROTARY_BASE = 10_000

/**
 * Writes the rotation of queries or keys; `position` names the value that holds the position of the
 * first row.
 */
export type Rotate = (rows: string, position: string) => string

/**
 * Writes the tables of a rotary embedding and returns a function that rotates the first pairs of
 * each head of queries or keys by their position ( https://arxiv.org/abs/2104.09864).
 */
export function writeRotary(
  graph: Graph,
  { heads, positions }: { heads: number; positions: number },
): Rotate {
  const table = (turn: (angle: number) => number) => {
    return Float32Array.from({ length: positions * PAIRS }, (_, i) => {
      return turn(Math.floor(i / PAIRS) * ROTARY_BASE ** (-(i % PAIRS) / PAIRS))
    })
  }
  const [cosines, sines] = [Math.cos, Math.sin].map((turn, i) => {
    const bytes = new Uint8Array(table(turn).buffer)
    const dims = [positions, PAIRS]
    const tensor = { name: `rotary.${i}`, dims, data_type: elementType.float, raw_data: bytes }
    return graph.constant(tensor)
  })
  const settings = { interleaved: 1, num_heads: heads, rotary_embedding_dim: 2 * PAIRS }
  return (rows, position) => {
    return graph.add('RotaryEmbedding', [rows, position, cosines!, sines!], settings)
  }
}
