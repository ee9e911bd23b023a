import './no-telemetry.ts'
import ort from 'onnxruntime-node'
import type { Device } from '../../config/config.ts'

/** A loaded model. */
export type OnnxSession = ort.InferenceSession
/** Inputs or outputs of a call by name. */
export type Tensors = Record<string, ort.Tensor>
/** An array of numbers with a shape. */
export type Tensor = ort.Tensor

const sessionOptions: ort.InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  logSeverityLevel: 3,
  // The runtime's memory pools keep the memory of the longest call, some 60 MB per model, and are
  // no faster.
  enableCpuMemArena: false,
  enableMemPattern: false,
}

/**
 * Older processors add pairs of 8-bit products in 16 bits, which can overflow. With this option,
 * the runtime converts signed weights to unsigned ones on such processors, which costs little; on
 * newer ones nothing changes.
 */
const withoutOverflow = { extra: { session: { x64quantprecision: '1' } } }

/**
 * Loads a model for one thread: two threads per model were slower than one at double the cost, so
 * the service scales by processes instead. A call blocks the event loop: never load a model in the
 * server. With `signedWeights`, products of signed 8-bit weights are exact on every processor.
 * Rejects with an `Error` that names the device when the installed library cannot use it.
 */
export async function loadModel(
  file: string,
  { signedWeights = false, device = 'cpu' }: { signedWeights?: boolean; device?: Device } = {},
): Promise<OnnxSession> {
  const options = {
    ...sessionOptions,
    ...(signedWeights ? withoutOverflow : {}),
    graphOptimizationLevel: 'all',
  } as const
  if (device === 'cpu') return ort.InferenceSession.create(file, options)
  try {
    // The CPU computes the operations that the device cannot. It must not be in the list: a missing
    // device would then be skipped without an error.
    return await ort.InferenceSession.create(file, { ...options, executionProviders: [device] })
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`STENO_DEVICE=${device} cannot be used: ${problem.trim()}`, { cause })
  }
}

/**
 * Returns the devices that the installed library knows, the processor first. It may still lack the
 * files of one.
 */
export function knownDevices(): string[] {
  return ort.listSupportedBackends().map(({ name }) => name)
}

/** Loads a model whose graph needs no optimization, in half the time. */
export function loadOptimizedModel(file: string): Promise<OnnxSession> {
  return ort.InferenceSession.create(file, {
    ...sessionOptions,
    graphOptimizationLevel: 'disabled',
  })
}

/** Creates a tensor of floats; `data` is not copied. */
export function floats(data: Float32Array, dims: readonly number[]): Tensor {
  return new ort.Tensor('float32', data, dims)
}

/** Creates a tensor of unsigned bytes; `data` is not copied. */
export function byteValues(data: Uint8Array, dims: readonly number[]): Tensor {
  return new ort.Tensor('uint8', data, dims)
}

/** Creates a tensor of 64-bit integers. */
export function integers(numbers: readonly number[], dims: readonly number[]): Tensor {
  return new ort.Tensor('int64', BigInt64Array.from(numbers, BigInt), dims)
}

/** Returns the floats behind a tensor, not copied. */
export function floatsOf(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new TypeError('tensor does not hold floats')
  return tensor.data
}

/** Copies some rows of every tensor; the first dimension is the batch. */
export function pickRows(tensors: Tensors, rows: readonly number[]): Tensors {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, pickTensorRows(tensor, rows)]),
  )
}

function pickTensorRows(tensor: Tensor, rows: readonly number[]): Tensor {
  const [batch = 1, ...rest] = tensor.dims
  const source = floatsOf(tensor)
  const size = source.length / batch
  const data = new Float32Array(rows.length * size)
  for (const [to, from] of rows.entries())
    data.set(source.subarray(from * size, (from + 1) * size), to * size)
  return floats(data, [rows.length, ...rest])
}
