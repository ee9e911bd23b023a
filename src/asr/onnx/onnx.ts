import { readFileSync, writeFileSync } from 'node:fs'
import protobuf from 'protobufjs'

/**
 * The part of the ONNX model format that the bundled models use. Field numbers are those of
 * onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), IR version 8; a field that
 * is not listed here is lost, so this serves the pinned models and no others.
 */
const schema = protobuf.parse(
  `
  syntax = "proto2";
  message Model {
    optional int64 ir_version = 1; repeated OperatorSet opset_import = 8;
    optional string producer_name = 2; optional string producer_version = 3;
    optional string domain = 4; optional int64 model_version = 5; optional string doc_string = 6;
    optional Graph graph = 7; repeated StringEntry metadata_props = 14;
  }
  message OperatorSet { optional string domain = 1; optional int64 version = 2; }
  message StringEntry { optional string key = 1; optional string value = 2; }
  message Graph {
    repeated Node node = 1; optional string name = 2; repeated Tensor initializer = 5;
    optional string doc_string = 10; repeated Value input = 11; repeated Value output = 12;
    repeated Value value_info = 13;
  }
  message Node {
    repeated string input = 1; repeated string output = 2; optional string name = 3;
    optional string op_type = 4; repeated Attribute attribute = 5; optional string doc_string = 6;
    optional string domain = 7;
  }
  message Attribute {
    optional string name = 1; optional float f = 2; optional int64 i = 3; optional bytes s = 4;
    optional Tensor t = 5; optional Graph g = 6; repeated float floats = 7; repeated int64 ints = 8;
    repeated bytes strings = 9; repeated Tensor tensors = 10; repeated Graph graphs = 11;
    optional string doc_string = 13; optional int32 type = 20; optional string ref_attr_name = 21;
  }
  message Tensor {
    repeated int64 dims = 1; optional int32 data_type = 2;
    repeated float float_data = 4 [packed = true]; repeated int32 int32_data = 5 [packed = true];
    repeated bytes string_data = 6; repeated int64 int64_data = 7 [packed = true];
    optional string name = 8; optional bytes raw_data = 9;
    repeated double double_data = 10 [packed = true]; repeated uint64 uint64_data = 11 [packed = true];
    optional string doc_string = 12; repeated StringEntry external_data = 13;
    optional int32 data_location = 14;
  }
  message Value { optional string name = 1; optional Type type = 2; optional string doc_string = 3; }
  message Type { optional TensorType tensor_type = 1; }
  message TensorType { optional int32 elem_type = 1; optional Shape shape = 2; }
  message Shape { repeated Dimension dim = 1; }
  message Dimension { optional int64 dim_value = 1; optional string dim_param = 2; }
`,
  { keepCase: true },
).root

const Model = schema.lookupType('Model')

/** Element types of ONNX tensors, by their number in the format. */
export const elementType = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9 } as const

/** Constants; small ones are listed, large ones are raw bytes. */
export type OnnxTensor = {
  name: string
  dims: number[]
  data_type: number
  raw_data: Uint8Array
  float_data?: number[]
  int32_data?: number[]
}
/** A constant whose bytes are in a file beside the model. */
export type OnnxExternalTensor = {
  name: string
  dims: number[]
  data_type: number
  /** `location` (the file's name), `offset` and `length`. */
  external_data: { key: string; value: string }[]
  /** In another file. */
  data_location: 1
}
/** A named setting of a node; `type` says which of the values applies. */
export type OnnxAttribute = {
  name: string
  type?: number
  i?: number
  f?: number
  ints?: number[]
  g?: OnnxGraph
  t?: OnnxTensor
}
/** One operation; inputs and outputs are names of values. */
export type OnnxNode = {
  name: string
  op_type: string
  domain?: string
  input: string[]
  output: string[]
  attribute: OnnxAttribute[]
}
/** A fixed size, or the name of a variable one. */
export type OnnxDimension = { dim_value?: number; dim_param?: string }
/** An input or output of a graph with its shape. */
export type OnnxValue = {
  name: string
  type: { tensor_type: { elem_type: number; shape: { dim: OnnxDimension[] } } }
}
/** Operations in order, and their constants. */
export type OnnxGraph = {
  name: string
  node: OnnxNode[]
  initializer: OnnxTensor[]
  input: OnnxValue[]
  output: OnnxValue[]
}
/** The content of an .onnx file. */
export type OnnxModel = {
  ir_version: number
  opset_import: { domain?: string; version: number }[]
  graph: OnnxGraph
}

/** Reads a whole .onnx file. */
export function readModel(file: string): OnnxModel {
  const plain = Model.toObject(Model.decode(readFileSync(file)), { longs: Number, arrays: true })
  return plain as OnnxModel
}

/** A model to write; its constants may be in a file beside it. */
export type WritableModel = Omit<OnnxModel, 'graph'> & {
  graph: Omit<OnnxGraph, 'initializer'> & {
    initializer: readonly (OnnxTensor | OnnxExternalTensor)[]
  }
}

/** Writes a model as an .onnx file. */
export function writeModel(file: string, model: WritableModel): void {
  writeFileSync(file, Model.encode(Model.fromObject(model)).finish())
}

/** Keeps the nodes that lead to an output, in an order in which each node follows its inputs. */
export function pruneGraph(graph: OnnxGraph): OnnxGraph {
  const producers = new Map(graph.node.flatMap((n) => n.output.map((name) => [name, n] as const)))
  const ordered = new Set<OnnxNode>()
  const used = new Set<string>()
  const visit = (name: string) => {
    used.add(name)
    const producer = producers.get(name)
    if (!producer || ordered.has(producer)) return
    for (const input of producer.input) visit(input)
    ordered.add(producer)
  }
  for (const output of graph.output) visit(output.name)
  const live = (item: { name: string }) => used.has(item.name)
  return {
    ...graph,
    node: [...ordered],
    initializer: graph.initializer.filter(live),
    input: graph.input.filter(live),
  }
}
