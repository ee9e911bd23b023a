import {
  elementType,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  pruneGraph,
} from '../../onnx/onnx.ts'

/**
 * Returns the first step of the shipped Moonshine decoder as a graph of its own. As shipped, it is
 * one `If` node that contains the first and the further steps, and converts the whole embedding to
 * floats at each; the returned graph multiplies bytes there (dynamic quantization), as everywhere
 * else.
 */
export function openPublishedDecoder(merged: OnnxModel): OnnxModel {
  const [choice] = merged.graph.node
  if (choice?.op_type !== 'If') throw new TypeError('not a merged decoder: its node is not If')
  const first = choice.attribute.find(({ name }) => name === 'else_branch')?.g
  if (!first) throw new TypeError('not a merged decoder: else_branch is missing')
  const graph: OnnxGraph = {
    ...first,
    name: merged.graph.name,
    node: [...first.node],
    initializer: [...merged.graph.initializer, ...first.initializer],
    input: [...merged.graph.input],
  }
  quantizeHead(graph)
  return { ...merged, ir_version: 8, graph: pruneGraph(graph) }
}

/** Computes the logits from bytes: DynamicQuantizeLinear → MatMulInteger → scale. */
function quantizeHead(graph: OnnxGraph): void {
  const dequantize = graph.node.find(
    (n) => n.op_type === 'DequantizeLinear' && n.name.includes('transposed'),
  )
  const transpose = graph.node.find((n) => n.output[0] === dequantize?.input[0])
  const matmul = graph.node.find((n) => n.input[1] === dequantize?.output[0])
  const embedding = graph.initializer.find((t) => t.name === transpose?.input[0])
  if (!dequantize || !transpose || !matmul || !embedding) {
    throw new TypeError('not a merged decoder: its output head has another form')
  }
  const [, scale, zeroPoint] = dequantize.input as [string, string, string]
  graph.node = graph.node.filter((n) => n !== dequantize && n !== transpose && n !== matmul)
  graph.initializer.push(transposeBytes(embedding, 'head.weight'))
  graph.node.push(
    node('DynamicQuantizeLinear', [matmul.input[0]!], ['head.x', 'head.x_scale', 'head.x_zero']),
    node('MatMulInteger', ['head.x', 'head.weight', 'head.x_zero', zeroPoint], ['head.sum']),
    node('Cast', ['head.sum'], ['head.float'], [{ name: 'to', type: 2, i: elementType.float }]),
    node('Mul', ['head.x_scale', scale], ['head.scale']),
    node('Mul', ['head.float', 'head.scale'], ['logits']),
  )
}

function node(
  op_type: string,
  input: string[],
  output: string[],
  attribute: OnnxAttribute[] = [],
): OnnxNode {
  return { name: `${output[0]}/${op_type}`, op_type, input, output, attribute }
}

function transposeBytes(tensor: OnnxTensor, name: string): OnnxTensor {
  const [rows = 0, columns = 0] = tensor.dims
  const raw_data = new Uint8Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      raw_data[column * rows + row] = tensor.raw_data[row * columns + column]!
    }
  }
  return { name, dims: [columns, rows], data_type: tensor.data_type, raw_data }
}
