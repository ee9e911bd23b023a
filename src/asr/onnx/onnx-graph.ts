import {
  elementType,
  type OnnxAttribute,
  type OnnxExternalTensor,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from './onnx.ts'

/** Opset 17 has LayerNormalization; the runtime's own operators have a domain of their own. */
const OPSET = 17
const RUNTIME_DOMAIN = 'com.microsoft'

/** The number that a normalization adds to the variance. */
export const EPSILON = 1e-5

/** Operators of ONNX Runtime that are not in ONNX. */
const runtimeOperators = new Set([
  'DynamicQuantizeMatMul',
  'FusedMatMul',
  'Gelu',
  'MatMulIntegerToFloat',
  'MatMulNBits',
  'MultiHeadAttention',
  'QuickGelu',
  'RotaryEmbedding',
])

/** The settings of an operation; a whole number is an `int`, `{ f }` a float. */
export type Settings = Record<string, number | readonly number[] | { f: number }>

/** Describes an operation, which has the name of its first output. */
export function describeNode(
  outputs: readonly string[],
  operator: string,
  inputs: readonly string[],
  settings: Settings = {},
): OnnxNode {
  return {
    name: outputs[0]!,
    op_type: operator,
    ...(runtimeOperators.has(operator) ? { domain: RUNTIME_DOMAIN } : {}),
    input: [...inputs],
    output: [...outputs],
    attribute: Object.entries(settings).map(attributeOf),
  }
}

/** Attribute types of the format: 1 float, 2 int, 7 ints. */
function attributeOf([name, value]: [string, Settings[string]]): OnnxAttribute {
  if (typeof value === 'number') return { name, type: 2, i: value }
  if ('f' in value) return { name, type: 1, f: value.f }
  return { name, type: 7, ints: [...value] }
}

/** Describes an input or output; a name stands for a size that varies. */
export function describeValue(
  name: string,
  dims: readonly (number | string)[],
  type: keyof typeof elementType = 'float',
): OnnxValue {
  const dim = dims.map((d) => (typeof d === 'string' ? { dim_param: d } : { dim_value: d }))
  return { name, type: { tensor_type: { elem_type: elementType[type], shape: { dim } } } }
}

/** The parts of a graph. */
type GraphParts<Constant> = {
  name: string
  nodes: readonly OnnxNode[]
  constants: Iterable<Constant>
  inputs: readonly OnnxValue[]
  outputs: readonly OnnxValue[]
}

/** Describes a model with one graph. */
export function describeModel<Constant extends OnnxTensor | OnnxExternalTensor>({
  name,
  nodes,
  constants,
  inputs,
  outputs,
}: GraphParts<Constant>) {
  return {
    ir_version: 8,
    opset_import: [
      { domain: '', version: OPSET },
      { domain: RUNTIME_DOMAIN, version: 1 },
    ],
    graph: {
      name,
      node: [...nodes],
      initializer: [...constants],
      input: [...inputs],
      output: [...outputs],
    },
  }
}

/** Starts a graph, to which operations and constants are added; `finish` makes a model of it. */
export function newGraph(name: string) {
  const nodes: OnnxNode[] = []
  const constants = new Map<string, OnnxTensor>()
  function addAs(
    output: readonly string[],
    operator: string,
    input: readonly string[],
    settings?: Settings,
  ): void {
    nodes.push(describeNode(output, operator, input, settings))
  }
  const constant = (tensor: OnnxTensor): string => {
    constants.set(tensor.name, tensor)
    return tensor.name
  }
  return {
    name,
    nodes,
    constants,
    addAs,
    constant,
    add(op: string, input: readonly string[], settings?: Settings, output?: string): string {
      const name = output ?? `${op}.${nodes.length}.out`
      addAs([name], op, input, settings)
      return name
    },
    /** Adds an operation with several outputs; those that are not wanted have no name. */
    addAll(
      op: string,
      input: readonly string[],
      usedOutputs: readonly boolean[],
      settings?: Settings,
    ) {
      const output = usedOutputs.map((isWanted, i) =>
        isWanted ? `${op}.${nodes.length}.${i}` : '',
      )
      addAs(output, op, input, settings)
      return output
    },
    integers(...numbers: number[]): string {
      const raw_data = new Uint8Array(BigInt64Array.from(numbers, BigInt).buffer)
      const name = `integers.${numbers.join('.')}`
      return constant({ name, dims: [numbers.length], data_type: elementType.int64, raw_data })
    },
  }
}

/** A graph that is being written. */
export type Graph = ReturnType<typeof newGraph>

/** Makes a model of a graph. */
export function toModel(
  { name, nodes, constants }: Graph,
  inputs: OnnxValue[],
  outputs: OnnxValue[],
): OnnxModel {
  return describeModel({ name, nodes, constants: constants.values(), inputs, outputs })
}

/**
 * Writes a normalization of each row. `SkipLayerNormalization`, which also adds the previous
 * states, takes three times as long as both operations.
 */
export function addLayerNormalization(graph: Graph, states: string, gain: OnnxTensor): string {
  const settings = { axis: -1, epsilon: { f: EPSILON } }
  return graph.add('LayerNormalization', [states, graph.constant(gain)], settings)
}

/** Describes a constant of floats. */
export function floatTensor(
  name: string,
  values: ArrayLike<number>,
  dims: number[] = [values.length],
): OnnxTensor {
  const raw_data = new Uint8Array(Float32Array.from(values).buffer)
  return { name, dims, data_type: elementType.float, raw_data }
}
