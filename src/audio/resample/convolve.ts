import { compileWasm, instantiateWasm, WASM_PAGE, type WasmMemory } from '../../web-assembly.ts'

/** The functions of `convolve.c`. Addresses are in bytes. */
type Exports = {
  memory: WasmMemory
  base(): number
  convolve(
    input: number,
    rows: number,
    output: number,
    count: number,
    part: number,
    whole: number,
    partStep: number,
    denominator: number,
    phases: number,
    taps: number,
  ): void
}

/** The taps of a filter: a row for each position of an output sample between two input samples. */
export type Filter = {
  /** Where the rows are in the memory of the module. */
  address: number
  /** The number of positions, beside the one that is equal to the first. */
  phases: number
  /** The length of a row, a multiple of four. */
  taps: number
}

/** Where the filter of an output sample starts: `part / denominator` after `start`. */
export type FilterPosition = { start: number; part: number }

/** The distance of two output samples, in input samples: `numerator / denominator`. */
export type FilterStep = { numerator: number; denominator: number }

/** Output samples that are computed at a time, which bounds the memory of the module. */
const MAX_BLOCK = 16_384
const FLOAT_BYTES = 4

let wasm: Exports | undefined
/** The first address that no filter takes. */
let end = 0

function load(): Exports {
  const loaded = instantiateWasm(compileWasm(new URL('convolve.wasm', import.meta.url))) as Exports
  end = loaded.base()
  return loaded
}

/** Stores the rows of a filter for good. */
export function storeFilter(rows: Float32Array, filter: Omit<Filter, 'address'>): Filter {
  wasm ??= load()
  const address = end
  memoryUpTo(address + rows.length * FLOAT_BYTES)
  floats(address, rows.length).set(rows)
  end += rows.length * FLOAT_BYTES
  return { ...filter, address }
}

/**
 * Computes `count` output samples from `input`, whose length must suffice; returns them and the
 * position of the next.
 */
export function convolve(
  input: Float32Array,
  { filter, step, count }: { filter: Filter; step: FilterStep; count: number },
  { start, part }: FilterPosition,
): { output: Float32Array<ArrayBuffer>; next: FilterPosition } {
  const { numerator, denominator } = step
  const [whole, partStep] = [Math.floor(numerator / denominator), numerator % denominator]
  const output = new Float32Array(count)
  const next = { start, part }
  for (let done = 0; done < count; done += MAX_BLOCK) {
    const length = Math.min(MAX_BLOCK, count - done)
    const last = next.start + Math.floor((next.part + (length - 1) * numerator) / denominator)
    const window = input.subarray(next.start, last + filter.taps)
    const to = end + window.length * FLOAT_BYTES
    memoryUpTo(to + length * FLOAT_BYTES)
    floats(end, window.length).set(window)
    wasm!.convolve(
      ...([end, filter.address, to, length, next.part, whole, partStep] as const),
      ...([denominator, filter.phases, filter.taps] as const),
    )
    output.set(floats(to, length), done)
    const parts = next.part + length * numerator
    next.start += Math.floor(parts / denominator)
    next.part = parts % denominator
  }
  return { output, next }
}

function floats(address: number, length: number): Float32Array {
  return new Float32Array(wasm!.memory.buffer, address, length)
}

function memoryUpTo(address: number): void {
  const missing = address - wasm!.memory.buffer.byteLength
  if (missing > 0) wasm!.memory.grow(Math.ceil(missing / WASM_PAGE))
}
