/** Numbers in rows, one row after the other. */
export type Matrix = { rows: number; columns: number; values: Float32Array }
/**
 * A field of a component: a number, both as it is read as float and as integer, a switch, or
 * numbers.
 */
export type Field =
  | { kind: 'number'; float: number; integer: number }
  | { kind: 'switch'; on: boolean }
  | { kind: 'vector'; values: Float32Array }
  | { kind: 'matrix'; matrix: Matrix }
/** One component with its fields by name. */
export type Component = { type: string; fields: Map<string, Field> }
/** A network as it is stored: its wiring in lines of text, and its components by name. */
export type Nnet3 = { wiring: string[]; components: Map<string, Component> }

/**
 * Reads a network in Kaldi's binary nnet3 format (https://kaldi-asr.org/doc/io.html: after `\0B`,
 * tokens end with a space, numbers begin with their size in bytes, vectors with `FV `, matrices
 * with `FM `). Throws `Error` with the position for bytes that are not that.
 */
export function readNnet3(bytes: Uint8Array): Nnet3 {
  const reader = createReader(bytes)
  if (reader.text(2) !== '\0B') reader.fail('it is not a binary Kaldi file')
  reader.expect('<Nnet3>')
  const wiring = reader.lines()
  reader.expect('<NumComponents>')
  const count = reader.integer()
  const components = new Map<string, Component>()
  for (let i = 0; i < count; i++) {
    reader.expect('<ComponentName>')
    const name = reader.token()
    components.set(name, readComponent(reader))
  }
  reader.expect('</Nnet3>')
  return { wiring, components }
}

function readComponent(reader: Reader): Component {
  const type = reader.token().slice(1, -1)
  const fields = new Map<string, Field>()
  for (let name = reader.token(); name !== `</${type}>`; name = reader.token()) {
    if (!/^<\w+>$/.test(name)) reader.fail(`${JSON.stringify(name)} is not the name of a field`)
    if (reader.peek(1) !== '<') fields.set(name.slice(1, -1), readField(reader))
  }
  return { type, fields }
}

/** A switch is `T` or `F`, which is also how vectors and matrices begin. */
function readField(reader: Reader): Field {
  switch (reader.peek(3)) {
    case 'FV ':
      reader.token()
      return { kind: 'vector', values: reader.floats(reader.integer()) }
    case 'FM ': {
      reader.token()
      const [rows, columns] = [reader.integer(), reader.integer()]
      return { kind: 'matrix', matrix: { rows, columns, values: reader.floats(rows * columns) } }
    }
  }
  const mark = reader.peek(1)
  if (mark === 'T' || mark === 'F') {
    reader.text(1)
    return { kind: 'switch', on: mark === 'T' }
  }
  return { kind: 'number', ...reader.number() }
}

type Reader = ReturnType<typeof createReader>

/** Longest token or line; a longer one is damage. */
const MAX_TEXT = 4096

function createReader(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0

  function fail(reason: string): never {
    throw new Error(`Cannot read the network: ${reason} (byte ${at} of ${bytes.length})`)
  }
  function take(length: number): number {
    if (length < 0 || at + length > bytes.length) fail(`it ends before ${length} further bytes`)
    at += length
    return at - length
  }
  function peek(length: number): string {
    return String.fromCharCode(...bytes.subarray(at, at + length))
  }
  function text(length: number): string {
    const start = take(length)
    return String.fromCharCode(...bytes.subarray(start, at))
  }
  function until(end: string): string {
    const length = bytes.subarray(at, at + MAX_TEXT).indexOf(end.charCodeAt(0))
    if (length < 0) fail('a name or a line has no end')
    return text(length + 1).slice(0, -1)
  }
  function token(): string {
    return until(' ')
  }
  function number(): { float: number; integer: number } {
    const size = bytes[take(1)]
    if (size === 8) {
      const float = view.getFloat64(take(8), true)
      return { float, integer: float }
    }
    if (size !== 4) fail(`a number of ${size} bytes; 4 and 8 are supported`)
    const start = take(4)
    return { float: view.getFloat32(start, true), integer: view.getInt32(start, true) }
  }
  return {
    fail,
    peek,
    text,
    token,
    number,
    integer: () => number().integer,
    expect(expectedToken: string): void {
      const found = token()
      if (found !== expectedToken)
        fail(`${JSON.stringify(found)} stands where ${expectedToken} belongs`)
    },
    /** Lines up to an empty one; the first may follow the token before it directly. */
    lines(): string[] {
      const lines: string[] = []
      until('\n')
      for (let line = until('\n'); line !== ''; line = until('\n')) lines.push(line.trim())
      return lines
    },
    floats(count: number): Float32Array {
      if (count < 0) fail(`a length of ${count}`)
      const start = take(4 * count)
      return Float32Array.from({ length: count }, (_, i) => view.getFloat32(start + 4 * i, true))
    },
  }
}
