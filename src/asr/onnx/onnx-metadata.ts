import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The field numbers of the metadata and of its keys and values in the ONNX format. */
const METADATA_FIELD = 14
const KEY_FIELD = 1
const VALUE_FIELD = 2
/** Wire types of protocol buffers (https://protobuf.dev/programming-guides/encoding). */
const VARINT = 0
const BYTES = 2
/** The longest entry of the metadata that is read, in bytes. */
const MAX_ENTRY = 10_000_000
/** A model has some ten fields beside its metadata. */
const MAX_FIELDS = 10_000

/**
 * Returns the metadata of an .onnx file without reading its graph, which may be large. Reads
 * synchronously. Throws `Error` when the file is not an ONNX model.
 */
export function readOnnxMetadata(file: string): Map<string, string> {
  const fd = openSync(file, 'r')
  try {
    const { size: end } = fstatSync(fd)
    const metadata = new Map<string, string>()
    let at = 0
    for (let fields = 0; fields < MAX_FIELDS; fields++) {
      if (at >= end) return metadata
      const head = Buffer.alloc(20)
      const read = readSync(fd, head, 0, head.length, at)
      const { field, length, size } = readHead(head.subarray(0, read), file)
      if (field === METADATA_FIELD && length <= MAX_ENTRY) {
        const entry = Buffer.alloc(length)
        const bytesRead = readSync(fd, entry, 0, length, at + size)
        const { key, value } = readEntry(entry.subarray(0, bytesRead), file)
        metadata.set(key, value)
      }
      at += size + length
    }
    throw new Error(`${file} is not an ONNX model`)
  } finally {
    closeSync(fd)
  }
}

/** Reads the tag of a field; `length` bytes of content follow the `size` bytes of the tag. */
function readHead(head: Buffer, file: string): { field: number; length: number; size: number } {
  const tag = readVarint(head, 0)
  const next = tag && readVarint(head, tag.end)
  if (!tag || !next) throw new Error(`${file} is not an ONNX model`)
  const field = Math.floor(tag.value / 8)
  const type = tag.value % 8
  if (type === VARINT) return { field, length: 0, size: next.end }
  if (type !== BYTES) throw new Error(`${file} is not an ONNX model`)
  return { field, length: next.value, size: next.end }
}

function readEntry(entry: Buffer, file: string): { key: string; value: string } {
  const texts = ['', '']
  for (let at = 0; at < entry.length; ) {
    const { field, length, size } = readHead(entry.subarray(at, at + 20), file)
    const text = entry.toString('utf8', at + size, at + size + length)
    if (field === KEY_FIELD || field === VALUE_FIELD) texts[field - 1] = text
    at += size + length
  }
  return { key: texts[0]!, value: texts[1]! }
}

function readVarint(bytes: Buffer, from: number): { value: number; end: number } | undefined {
  let value = 0
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i]
    if (byte === undefined) return undefined
    value += (byte % 128) * 2 ** (7 * i)
    if (byte < 128) return { value, end: from + i + 1 }
  }
  return undefined
}
