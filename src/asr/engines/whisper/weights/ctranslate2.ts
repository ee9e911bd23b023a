import { type ByteFile, openBytes } from '../../../model-files/weight-files/byte-file.ts'
import { fromBfloat16, fromFloat16 } from '../../../model-files/weight-files/half-floats.ts'
import type { Rows } from '../../../model-files/weight-files/safetensors.ts'
import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'
import type { WeightFile } from './weights.ts'

/** Where an array lies in the file; `type` is the number of its element type. */
type ArrayEntry = { sizes: number[]; type: number; offset: number; bytes: number }

/** The newest supported version of the format. */
const NEWEST_VERSION = 6
/**
 * From this version on, an entry states its element type and its bytes; before, only the element
 * size.
 */
const FIRST_TYPED_VERSION = 4
const FIRST_VERSION_WITH_ALIASES = 3
/** Element types by their number in the file, and the bytes of an element. */
const elementBytes = [4, 1, 2, 4, 2, 2]
const [FLOAT, INT8, INT16, HALF, BRAIN_FLOAT] = [0, 1, 2, 4, 5]
/** Models have hundreds of entries: a file with more than this is damaged. */
const MAX_ENTRIES = 100_000

/**
 * Opens the `model.bin` of a CTranslate2 model (versions 2 to 6, floats of 32 and 16 bits, integers
 * with scales). The format is that of `ModelReader` in
 * https://github.com/OpenNMT/CTranslate2/blob/master/src/models/model.cc: little-endian; the
 * version, the name of the specification and its revision, then entries of name, sizes, type and
 * data, then aliases. Throws `WeightFileError` when the file is something else.
 */
export function openCTranslate2(path: string): WeightFile {
  const file = openBytes(path)
  try {
    const entries = readEntries(file)
    return {
      sizes: (name) => entries.get(name)?.sizes,
      read(name, rows) {
        const entry = entries.get(name)
        if (!entry) throw new WeightFileError(`${path} has no ${name}`)
        const scale = entries.get(`${name}_scale`)
        const perRow = scale && scale.sizes[0] === entry.sizes[0]
        const scales = scale && readFloats(file, perRow ? rowsOf(scale, rows) : scale)
        const values = readFloats(file, rowsOf(entry, rows))
        if (scales && values.length % scales.length !== 0) {
          throw new WeightFileError(`${path} has scales that do not fit ${name}`)
        }
        return scaled(values, scales)
      },
      close: () => file.close(),
    }
  } catch (error) {
    file.close()
    throw error
  }
}

function readEntries(file: ByteFile): Map<string, ArrayEntry> {
  const cursor = cursorOf(file)
  const version = cursor.number(4)
  const specification = version > 1 && version <= NEWEST_VERSION ? cursor.text() : ''
  if (specification === '') {
    throw new WeightFileError(
      `${file.path} is not a CTranslate2 model in a supported form (${version})`,
    )
  }
  if (specification !== 'WhisperSpec') {
    throw new WeightFileError(`${file.path} is not a Whisper model: it holds a ${specification}`)
  }
  cursor.number(4) // Skips the revision of the specification: arrays that it changed have other names.
  const entries = new Map<string, ArrayEntry>()
  for (let remainingEntries = cursor.number(4); remainingEntries > 0; remainingEntries--) {
    const name = cursor.text()
    const sizes = Array.from({ length: cursor.number(1) }, () => cursor.number(4))
    const entry = version >= FIRST_TYPED_VERSION ? typedEntry(cursor) : untypedEntry(cursor)
    if (elementBytes[entry.type] === undefined || entries.size > MAX_ENTRIES) {
      throw new WeightFileError(`${file.path} is damaged at ${name}`)
    }
    const elements = sizes.reduce((product, n) => product * n, 1)
    const offset = cursor.skip(entry.bytes)
    if (entry.bytes !== elements * elementBytes[entry.type]!) {
      throw new WeightFileError(`${file.path} is damaged at ${name}`)
    }
    entries.set(name, { ...entry, sizes, offset })
  }
  if (version >= FIRST_VERSION_WITH_ALIASES) {
    for (let remainingEntries = cursor.number(4); remainingEntries > 0; remainingEntries--) {
      const alias = cursor.text()
      const entry = entries.get(cursor.text())
      if (entry) entries.set(alias, entry)
    }
  }
  return entries
}

type Cursor = ReturnType<typeof cursorOf>

function typedEntry(cursor: Cursor): { type: number; bytes: number } {
  return { type: cursor.number(1), bytes: cursor.number(4) }
}

function untypedEntry(cursor: Cursor): { type: number; bytes: number } {
  const size = cursor.number(1)
  const types: Record<number, number> = { 4: FLOAT, 2: INT16, 1: INT8 }
  return { type: types[size] ?? -1, bytes: size * cursor.number(4) }
}

/** Returns a reader of consecutive small values; `skip` checks that the skipped bytes exist. */
function cursorOf(file: ByteFile) {
  let at = 0
  const take = (length: number) => {
    const bytes = file.read(at, length)
    at += length
    return new DataView(bytes.buffer)
  }
  return {
    number(bytes: 1 | 2 | 4): number {
      const view = take(bytes)
      return bytes === 4
        ? view.getUint32(0, true)
        : bytes === 2
          ? view.getUint16(0, true)
          : view.getUint8(0)
    },
    text(): string {
      const bytes = take(this.number(2))
      return Buffer.from(bytes.buffer).toString('latin1').replace(/\0$/, '')
    },
    skip(length: number): number {
      const from = at
      at += length
      if (at > file.size)
        throw new WeightFileError(`${file.path} is truncated: ${at} bytes expected`)
      return from
    },
  }
}

function rowsOf(entry: ArrayEntry, rows: Rows | undefined): ArrayEntry {
  if (!rows) return entry
  const count = entry.sizes[0] ?? 1
  const row = entry.bytes / Math.max(1, count)
  const [from, to] = rows
  if (to > count) throw new WeightFileError('an array has fewer rows than another one needs')
  return { ...entry, offset: entry.offset + from * row, bytes: (to - from) * row }
}

function readFloats(file: ByteFile, { type, offset, bytes }: ArrayEntry): Float32Array {
  const { buffer } = file.read(offset, bytes)
  if (type === FLOAT) return new Float32Array(buffer)
  if (type === HALF) return fromFloat16(new Uint16Array(buffer))
  if (type === BRAIN_FLOAT) return fromBfloat16(new Uint16Array(buffer))
  if (type === INT8) return Float32Array.from(new Int8Array(buffer))
  if (type === INT16) return Float32Array.from(new Int16Array(buffer))
  return Float32Array.from(new Int32Array(buffer))
}

/** Quantized weights are multiplied by a scale per row, or by one for all. */
function scaled(values: Float32Array, scales: Float32Array | undefined): Float32Array {
  if (!scales) return values
  const row = values.length / scales.length
  for (let i = 0; i < values.length; i++) values[i]! /= scales[Math.floor(i / row)]!
  return values
}
