import { rm } from 'node:fs/promises'
import { elementType, type OnnxModel, type OnnxTensor, writeModel } from '../../onnx/onnx.ts'
import { describeValue, floatTensor, newGraph, toModel } from '../../onnx/onnx-graph.ts'
import { byteValues, floatsOf, loadOptimizedModel } from '../../onnx/onnx-runtime.ts'

/** Where the operators that multiply bytes have their weights, and the zero points of these. */
const weightInputs: Readonly<Record<string, readonly number[]>> = {
  DynamicQuantizeMatMul: [1, 3],
  MatMulIntegerToFloat: [1, 5],
}

/** The offset between unsigned bytes and the signed ones that stand for the same weights. */
const OFFSET = 128

/**
 * Returns a model whose weights of bytes are signed: byte and zero point are 128 less, so every
 * product is the same number. Processors with instructions for signed bytes (VNNI) multiply them
 * more than twice as fast.
 */
export function withSignedWeights(model: OnnxModel): OnnxModel {
  const weights = new Set(
    model.graph.node.flatMap(({ op_type, input }) => {
      return (weightInputs[op_type] ?? []).map((at) => input[at]!)
    }),
  )
  const initializer = model.graph.initializer.map((tensor) => {
    return weights.has(tensor.name) ? toSigned(tensor) : tensor
  })
  return { ...model, graph: { ...model.graph, initializer } }
}

function toSigned(tensor: OnnxTensor): OnnxTensor {
  if (tensor.data_type !== elementType.uint8) return tensor
  // Small constants are listed instead.
  const listed = tensor.int32_data ?? []
  const bytes = listed.length > 0 ? listed : tensor.raw_data
  const raw_data = Uint8Array.from(bytes, (byte) => byte - OFFSET)
  return { ...tensor, data_type: elementType.int8, raw_data, int32_data: [] }
}

/** The size of the tried products: enough rows and columns for each kernel of the runtime. */
const TRIED_ROWS = [1, 4, 64]
const TRIED_INNER = 256
const TRIED_COLUMNS = 64
const [LARGEST_BYTE, LARGEST_WEIGHT, LOWEST_WEIGHT] = [255, 127, -128]

/**
 * Returns whether products of bytes with signed weights are exact on this processor. Without VNNI,
 * kernels add pairs of products in 16 bits, which overflow. `file` is a path for the tried graph.
 */
export async function multipliesSignedExactly(file: string): Promise<boolean> {
  for (const weight of [LARGEST_WEIGHT, LOWEST_WEIGHT]) {
    writeModel(file, productOf(weight))
    const session = await loadOptimizedModel(file)
    try {
      for (const rows of TRIED_ROWS) {
        const x = byteValues(new Uint8Array(rows * TRIED_INNER).fill(LARGEST_BYTE), [
          rows,
          TRIED_INNER,
        ])
        const { y } = await session.run({ x })
        const exact = LARGEST_BYTE * weight * TRIED_INNER
        if (!floatsOf(y).every((sum) => sum === exact)) return false
      }
    } finally {
      await session.release()
      await rm(file)
    }
  }
  return true
}

/** A graph from x u8 [rows, inner] to its product y f32 [rows, columns] with equal weights. */
function productOf(weight: number): OnnxModel {
  const graph = newGraph('signed')
  const weights = {
    name: 'weights',
    dims: [TRIED_INNER, TRIED_COLUMNS],
    data_type: elementType.int8,
    raw_data: new Uint8Array(TRIED_INNER * TRIED_COLUMNS).fill(weight),
  }
  const one = graph.constant(floatTensor('one', [1], []))
  const raw_data = new Uint8Array([0])
  const zero = graph.constant({ name: 'zero', dims: [], data_type: elementType.uint8, raw_data })
  const signedZero = { name: 'signed_zero', dims: [], data_type: elementType.int8, raw_data }
  const inputs = ['x', graph.constant(weights), one, one, zero, graph.constant(signedZero)]
  graph.add('MatMulIntegerToFloat', inputs, {}, 'y')
  const input = describeValue('x', ['rows', TRIED_INNER], 'uint8')
  return toModel(graph, [input], [describeValue('y', ['rows', TRIED_COLUMNS])])
}
