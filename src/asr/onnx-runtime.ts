import './no-telemetry.ts'
import ort from 'onnxruntime-node'

/** A loaded model. */
export type Session = ort.InferenceSession
/** Inputs or outputs of a call by name. */
export type Tensors = Record<string, ort.Tensor>
/** Numbers with a shape. */
export type Tensor = ort.Tensor

/**
 * Loads a model for one thread: two threads per model were slower than one at double the cost, so
 * the service scales by processes instead. A call blocks the event loop: never load a model in the
 * server.
 */
export function loadModel(file: string): Promise<Session> {
  return ort.InferenceSession.create(file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  })
}

/** Creates a tensor of floats; `data` is not copied. */
export function floats(data: Float32Array, dims: readonly number[]): Tensor {
  return new ort.Tensor('float32', data, dims)
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
