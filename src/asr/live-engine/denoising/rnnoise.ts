import { compileWasm, instantiateWasm, WASM_PAGE, type WasmMemory } from '../../../web-assembly.ts'

/** Samples at 48 kHz that RNNoise processes at a time. */
export const RNNOISE_FRAME = 480

/**
 * A pass of RNNoise over one channel at 48 kHz. Each output frame belongs to the input of the call
 * before.
 */
export type FrameDenoiser = {
  /** Denoises `RNNOISE_FRAME` samples (-1 to 1). */
  clean(frame: Float32Array): Float32Array
  close(): void
}

/** RNNoise takes samples in the range of 16-bit integers. */
const FULL_SCALE = 32_768
const FLOAT = 4

/** The exports of rnnoise.wasm in the pinned package, under the names that its build gave them. */
type Exports = {
  c: WasmMemory
  /** Runs the constructors. */
  d(): void
  /** `rnnoise_create`, `malloc`, `rnnoise_destroy`, `free`, `rnnoise_process_frame`. */
  f(model: number): number
  g(bytes: number): number
  h(state: number): void
  i(pointer: number): void
  j(state: number, output: number, input: number): number
}

let loaded: Exports | undefined

/**
 * Returns a function that starts passes of RNNoise (BSD, https://jmvalin.ca/demo/rnnoise/). The
 * package's own loader expects a browser, so the module is instantiated without it, when it is
 * first needed.
 */
export function loadFrameDenoiser(): () => FrameDenoiser {
  loaded ??= load()
  const wasm = loaded
  return () => openFilter(wasm)
}

function openFilter(wasm: Exports): FrameDenoiser {
  const state = wasm.f(0)
  const buffer = wasm.g(RNNOISE_FRAME * FLOAT)
  const samples = () => new Float32Array(wasm.c.buffer, buffer, RNNOISE_FRAME)
  return {
    clean(frame) {
      samples().set(frame.map((sample) => sample * FULL_SCALE))
      wasm.j(state, buffer, buffer)
      return samples().map((sample) => sample / FULL_SCALE)
    },
    close() {
      wasm.i(buffer)
      wasm.h(state)
    },
  }
}

function load(): Exports {
  const file = new URL(import.meta.resolve('@jitsi/rnnoise-wasm/dist/rnnoise.wasm'))
  let memory: WasmMemory | undefined
  const imports = {
    a: {
      /** Requests more memory. */
      a(bytes = 0) {
        const missing = (bytes >>> 0) - memory!.buffer.byteLength
        memory!.grow(Math.ceil(Math.max(0, missing) / WASM_PAGE))
        return 1
      },
      /** Copies bytes. */
      b(to = 0, from = 0, bytes = 0) {
        new Uint8Array(memory!.buffer).copyWithin(to, from, from + bytes)
        return undefined
      },
    },
  }
  const exports = instantiateWasm(compileWasm(file), imports) as Exports
  memory = exports.c
  exports.d()
  return exports
}
