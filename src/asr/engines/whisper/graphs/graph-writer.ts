import { closeSync, openSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import {
  elementType,
  type OnnxExternalTensor,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  writeModel,
} from '../../../onnx/onnx.ts'
import { describeModel, describeNode, type Settings } from '../../../onnx/onnx-graph.ts'

/** Arrays of at least this many bytes go to the file beside the graph. */
const EXTERNAL_BYTES = 65_536
/** Arrays in that file begin at multiples of this, since operating systems map files in pages. */
const PAGE = 65_536

/** Writes a graph, operation by operation; weights are written to disk at once. */
export type GraphWriter = {
  /** Adds an operation and returns the name of its output. */
  node(operator: string, inputs: readonly string[], settings?: Settings): string
  /** Adds an operation with several outputs, or with names given to them. */
  nodeTo(
    outputs: readonly string[],
    operator: string,
    inputs: readonly string[],
    settings?: Settings,
  ): void
  floats(name: string, dims: readonly number[], values: Float32Array): string
  bytes(name: string, dims: readonly number[], values: Uint8Array): string
  signed(name: string, dims: readonly number[], values: Int8Array): string
  /** Adds int64 numbers; equal lists share one constant. */
  integers(...numbers: number[]): string
  /** Writes the file. The graph cannot be continued. */
  finish(inputs: readonly OnnxValue[], outputs: readonly OnnxValue[]): void
  /** Closes the file of the weights; also after an error. */
  close(): void
}

/**
 * Starts the graph `file` (`encoder.onnx`); its weights are written to `encoder.weights` beside it,
 * so that neither this process nor the runtime holds them in memory twice, and a model may exceed
 * the 2 GB of a protobuf message.
 */
export function startGraph(file: string): GraphWriter {
  const weightsFile = file.replace(/\.onnx$/, '.weights')
  const fd = openSync(weightsFile, 'w')
  const nodes: OnnxNode[] = []
  const constants = new Map<string, OnnxTensor | OnnxExternalTensor>()
  let end = 0
  const add = (name: string, dims: readonly number[], data_type: number, bytes: Uint8Array) => {
    const shape = { name, dims: [...dims], data_type }
    if (bytes.length < EXTERNAL_BYTES) {
      constants.set(name, { ...shape, raw_data: bytes })
      return name
    }
    const offset = Math.ceil(end / PAGE) * PAGE
    writeAllBytes(fd, bytes, offset)
    end = offset + bytes.length
    const place = { location: basename(weightsFile), offset, length: bytes.length }
    const external_data = Object.entries(place).map(([key, value]) => ({ key, value: `${value}` }))
    constants.set(name, { ...shape, external_data, data_location: 1 })
    return name
  }
  const nodeTo: GraphWriter['nodeTo'] = (outputs, operator, inputs, settings) => {
    nodes.push(describeNode(outputs, operator, inputs, settings))
  }
  return {
    nodeTo,
    node(operator, inputs, settings) {
      const output = `${operator}.${nodes.length}`
      nodeTo([output], operator, inputs, settings)
      return output
    },
    floats: (name, dims, values) => add(name, dims, elementType.float, rawBytes(values)),
    signed: (name, dims, values) => add(name, dims, elementType.int8, rawBytes(values)),
    bytes: (name, dims, values) => add(name, dims, elementType.uint8, values),
    integers(...numbers) {
      const name = `integers.${numbers.join('.')}`
      if (constants.has(name)) return name
      const values = BigInt64Array.from(numbers, BigInt)
      return add(name, [numbers.length], elementType.int64, rawBytes(values))
    },
    finish(inputs, outputs) {
      const name = basename(file, '.onnx')
      const graph = { name, nodes, constants: constants.values(), inputs, outputs }
      writeModel(file, describeModel(graph))
    },
    close: () => closeSync(fd),
  }
}

function rawBytes(values: Float32Array | BigInt64Array | Int8Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

function writeAllBytes(fd: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done)
  }
}
