import {
  elementType,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  pruneGraph,
} from './onnx.ts'

/** Weights per scale: 32 divides every size of the model. */
const BLOCK = 32
/** Activations are rounded to bytes too, so the products stay integers. */
const BYTE_ACTIVATIONS = 4
const CONTRIB_DOMAIN = 'com.microsoft'

/**
 * Rewrites each quantized product (DynamicQuantizeLinear → MatMulInteger → Cast → Mul) as one
 * MatMulNBits with exactly the same weight bytes. The first form rounds the activations of a whole
 * batch with one scale, so a segment's text depends on its neighbors; the second rounds every 32
 * values of every row separately, at the same speed.
 */
export function blockQuantize(model: OnnxModel): OnnxModel {
  const graph = { ...model.graph, initializer: [...model.graph.initializer] }
  const find = indexGraph(graph)
  const replacements = new Map<OnnxNode, OnnxNode>()
  for (const product of graph.node.filter((node) => node.op_type === 'MatMulInteger')) {
    const [activations, weightName = '', , zeroPointName = ''] = product.input
    const weight = find.tensor(weightName)
    const quantize = find.producer(activations!)
    const cast = find.consumer(product.output[0]!)
    const rescale = find.consumer(cast.output[0]!)
    const scales = find.producer(rescale.input.find((name) => name !== cast.output[0])!)
    const scale = find.tensor(scales.input.find(find.isTensor)!)
    const zeroPoint = find.tensor(zeroPointName)
    const constants = blockConstants(weight, { scale: scalar(scale), zeroPoint: scalar(zeroPoint) })
    for (const tensor of constants) {
      if (!find.isTensor(tensor.name)) graph.initializer.push(tensor)
    }
    const [inner = 0, outer = 0] = weight.dims
    const attributes = {
      K: inner,
      N: outer,
      bits: 8,
      block_size: BLOCK,
      accuracy_level: BYTE_ACTIVATIONS,
    }
    replacements.set(rescale, {
      name: `${product.name}/blocks`,
      op_type: 'MatMulNBits',
      domain: CONTRIB_DOMAIN,
      input: [quantize.input[0]!, ...constants.map((tensor) => tensor.name)],
      output: rescale.output,
      attribute: Object.entries(attributes).map(([name, i]) => ({ name, type: 2, i })),
    })
  }
  graph.node = graph.node.map((node) => replacements.get(node) ?? node)
  const opset_import = [...model.opset_import, { domain: CONTRIB_DOMAIN, version: 1 }]
  return { ...model, opset_import, graph: pruneGraph(graph) }
}

/**
 * Returns the weights as [columns, blocks, BLOCK] bytes, with the single scale and zero point
 * repeated per block.
 */
function blockConstants(
  weight: OnnxTensor,
  { scale, zeroPoint }: { scale: number; zeroPoint: number },
): OnnxTensor[] {
  const [inner = 0, outer = 0] = weight.dims
  if (inner % BLOCK !== 0) throw new TypeError(`cannot cut ${inner} rows into blocks of ${BLOCK}`)
  const bytes = new Uint8Array(inner * outer)
  for (let row = 0; row < inner; row++) {
    for (let column = 0; column < outer; column++) {
      bytes[column * inner + row] = weight.raw_data[row * outer + column]!
    }
  }
  const blocks = inner / BLOCK
  const scales = new Float32Array(outer * blocks).fill(scale)
  const zeroPoints = new Uint8Array(outer * blocks).fill(zeroPoint)
  return [
    {
      name: `${weight.name}.blocks`,
      dims: [outer, blocks, BLOCK],
      data_type: elementType.uint8,
      raw_data: bytes,
    },
    {
      name: `${weight.name}.scales`,
      dims: [outer, blocks],
      data_type: elementType.float,
      raw_data: new Uint8Array(scales.buffer),
    },
    {
      name: `${weight.name}.zeros`,
      dims: [outer, blocks],
      data_type: elementType.uint8,
      raw_data: zeroPoints,
    },
  ]
}

function scalar(tensor: OnnxTensor): number {
  const listed = tensor.float_data?.[0] ?? tensor.int32_data?.[0]
  if (listed !== undefined) return listed
  const bytes = tensor.raw_data
  return tensor.data_type === elementType.float
    ? new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true)
    : bytes[0]!
}

function indexGraph(graph: OnnxGraph) {
  const producers = new Map(graph.node.flatMap((node) => node.output.map((name) => [name, node])))
  const consumers = new Map(graph.node.flatMap((node) => node.input.map((name) => [name, node])))
  const need = <T>(found: T | undefined, name: string): T => {
    if (!found) throw new TypeError(`the quantised products have another form: ${name}`)
    return found
  }
  const tensors = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]))
  return {
    isTensor: (name: string) => graph.initializer.some((tensor) => tensor.name === name),
    tensor: (name: string) => need(tensors.get(name), name),
    producer: (name: string) => need(producers.get(name), name),
    consumer: (name: string) => need(consumers.get(name), name),
  }
}
