import {
  elementType,
  type OnnxAttribute,
  type OnnxExternalTensor,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from './onnx.ts'

/** Opset 17 has LayerNormalization; the runtime's own operators have a domain of their own. */
const OPSET = 17
const RUNTIME_DOMAIN = 'com.microsoft'

/** Operators of ONNX Runtime that are not in ONNX. */
const runtimeOperators = new Set([
  'FusedMatMul',
  'Gelu',
  'MatMulIntegerToFloat',
  'MatMulNBits',
  'MultiHeadAttention',
  'QuickGelu',
  'RotaryEmbedding',
  'SkipLayerNormalization',
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
