import {
  elementType,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  pruneGraph,
} from './onnx.ts'

/** Attention heads whose rows follow the audio, by [layer, head]: they give the word times. */
export type AlignmentHeads = readonly (readonly [layer: number, head: number])[]

/** A split decoder: `init` reads the first tokens, `step` every further one. */
export type SplitDecoder = { init: OnnxModel; step: OnnxModel }

/**
 * Splits the shipped Moonshine decoder and makes it about twice as fast with the same text. As
 * shipped it is one `If` node that contains both graphs and converts the whole embedding to floats
 * at each step. Both results have:
 *
 * - one graph without the switch, its dead nodes dropped;
 * - an output head that multiplies bytes (dynamic quantization) instead of 32768 × hidden floats;
 * - an input `encoder_mask` f32 [batch, 1, 1, frames], added to the cross-attention scores, so that
 *   recordings of different length can be decoded together (0 = audio, very negative = padding);
 * - an output `attention` f32 [batch, heads, tokens, frames] with the rows of `heads` only;
 * - an output `log_sum_exp` f32 [batch, tokens] over the logits, for token probabilities.
 *
 * `step` takes one token per call, so it needs no causal mask.
 */
export function splitDecoder(merged: OnnxModel, heads: AlignmentHeads): SplitDecoder {
  const [choice] = merged.graph.node
  if (choice?.op_type !== 'If') throw new TypeError('not a merged decoder: its node is not If')
  const branch = (name: string) => {
    const graph = choice.attribute.find((attribute) => attribute.name === name)?.g
    if (!graph) throw new TypeError(`not a merged decoder: ${name} is missing`)
    return graph
  }
  const build = (graph: OnnxGraph, keep: (output: string) => boolean) => {
    const draft: OnnxGraph = {
      ...graph,
      name: merged.graph.name,
      node: [...graph.node],
      initializer: [...merged.graph.initializer, ...graph.initializer],
      input: [...merged.graph.input],
      output: graph.output.filter((output) => keep(output.name)),
    }
    maskCrossAttention(draft)
    exposeAttention(draft, heads)
    quantizeHead(draft)
    return { ...merged, ir_version: 8, graph: draft }
  }
  const init = build(branch('else_branch'), () => true)
  const step = build(branch('then_branch'), (name) => !name.includes('.encoder.'))
  dropCausalMask(step.graph)
  return {
    init: { ...init, graph: pruneGraph(init.graph) },
    step: { ...step, graph: pruneGraph(step.graph) },
  }
}

function maskCrossAttention(graph: OnnxGraph): void {
  graph.input.push(value('encoder_mask', ['batch_size', 1, 1, 'encoder_sequence_length_out']))
  for (const softmax of crossAttentions(graph)) {
    const masked = `${softmax.name}/masked`
    graph.node.push(node('Add', [softmax.input[0]!, 'encoder_mask'], [masked]))
    replaceNode(graph, softmax, { ...softmax, input: [masked] })
  }
}

function exposeAttention(graph: OnnxGraph, heads: AlignmentHeads): void {
  const layers = crossAttentions(graph)
  const rows = heads.map(([layer, head]) => {
    const name = `attention.${layer}.${head}`
    graph.initializer.push(int64(`${name}.index`, [head]))
    const softmax = layers[layer]
    if (!softmax) throw new TypeError(`the decoder has no layer ${layer}`)
    const axis = { name: 'axis', type: 2, i: 1 }
    graph.node.push(node('Gather', [softmax.output[0]!, `${name}.index`], [name], [axis]))
    return name
  })
  graph.node.push(node('Concat', rows, ['attention'], [{ name: 'axis', type: 2, i: 1 }]))
  const dims = [
    'batch_size',
    heads.length,
    'decoder_sequence_length',
    'encoder_sequence_length_out',
  ]
  graph.output.push(value('attention', dims))
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
    node(
      'ReduceLogSumExp',
      ['logits'],
      ['log_sum_exp'],
      [
        { name: 'axes', type: 7, ints: [-1] },
        { name: 'keepdims', type: 2, i: 0 },
      ],
    ),
  )
  graph.output.push(value('log_sum_exp', ['batch_size', 'decoder_sequence_length']))
}

/** A single query token sees everything before it, so the mask added to its scores is all zero. */
function dropCausalMask(graph: OnnxGraph): void {
  for (const softmax of graph.node.filter((n) => isAttention(n, 'self_attn'))) {
    const add = graph.node.find((n) => n.output[0] === softmax.input[0])
    const scores = add?.input.find((name) => {
      return graph.node.some((n) => n.output[0] === name && n.op_type === 'MatMul')
    })
    if (!scores) throw new TypeError(`no scores found before ${softmax.name}`)
    replaceNode(graph, softmax, { ...softmax, input: [scores] })
  }
}

function crossAttentions(graph: OnnxGraph): OnnxNode[] {
  return graph.node.filter((n) => isAttention(n, 'encoder_attn'))
}

function isAttention(n: OnnxNode, kind: 'encoder_attn' | 'self_attn'): boolean {
  return n.op_type === 'Softmax' && n.name.includes(kind)
}

function replaceNode(graph: OnnxGraph, old: OnnxNode, replacement: OnnxNode): void {
  graph.node = graph.node.map((n) => (n === old ? replacement : n))
}

function node(
  op_type: string,
  input: string[],
  output: string[],
  attribute: OnnxAttribute[] = [],
): OnnxNode {
  return { name: `${output[0]}/${op_type}`, op_type, input, output, attribute }
}

function value(name: string, dims: readonly (string | number)[]): OnnxValue {
  const dim = dims.map((d) => (typeof d === 'string' ? { dim_param: d } : { dim_value: d }))
  return { name, type: { tensor_type: { elem_type: elementType.float, shape: { dim } } } }
}

function int64(name: string, numbers: readonly number[]): OnnxTensor {
  const raw_data = new Uint8Array(BigInt64Array.from(numbers, BigInt).buffer)
  return { name, dims: [numbers.length], data_type: elementType.int64, raw_data }
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
