/**
 * An event of the Wyoming protocol: a line of JSON, then more JSON and bytes of the lengths in it.
 */
export type WyomingEvent = { type: string; data: Record<string, unknown>; payload: Buffer }

/** A header holds a type and a few numbers, or some data. */
const MAX_HEADER_BYTES = 64 * 1024
const MAX_DATA_BYTES = 256 * 1024
/** Clients send a tenth of a second at a time; this is half a minute. */
const MAX_PAYLOAD_BYTES = 1024 * 1024
const NEWLINE = 0x0a

/** Bytes that are no event of the protocol, or too many of them. */
export class ProtocolError extends Error {}

/** Yields the events in a stream of bytes; throws `ProtocolError` at the first that is none. */
export async function* readEvents(bytes: AsyncIterable<Buffer>): AsyncGenerator<WyomingEvent> {
  const reader = new ByteReader(bytes)
  for (;;) {
    const line = await reader.line(MAX_HEADER_BYTES)
    if (line === undefined) return
    const header = parseObject(line)
    const { type, data, data_length: more, payload_length: length } = header
    if (typeof type !== 'string') throw new ProtocolError('The header has no type')
    const added = await reader.take(readLength(more, MAX_DATA_BYTES, 'data'))
    const payload = await reader.take(readLength(length, MAX_PAYLOAD_BYTES, 'payload'))
    if (added === undefined || payload === undefined) return
    const all = { ...(isObject(data) ? data : {}), ...(added.length > 0 && parseObject(added)) }
    yield { type, data: all, payload }
  }
}

/** Returns an event as bytes. */
export function writeEvent(type: string, data: object = {}): Buffer {
  const json = Buffer.from(JSON.stringify(data))
  const header = { type, version: '1.5.0', data_length: json.length }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), json])
}

/** Takes lines and blocks out of a stream. Parts are joined once, when a block is complete. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #parts: Buffer[] = []
  #size = 0

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#source = bytes[Symbol.asyncIterator]()
  }

  /** Returns the next line without its end; undefined at the end of the stream. */
  async line(most: number): Promise<Buffer | undefined> {
    for (let i = 0, before = 0; ; i++) {
      if (i === this.#parts.length && !(await this.#fill())) return undefined
      const part = this.#parts[i]!
      const at = part.indexOf(NEWLINE)
      if (before + (at < 0 ? part.length : at) > most) {
        throw new ProtocolError(`A header is longer than ${most} bytes`)
      }
      if (at >= 0) return (await this.take(before + at + 1))!.subarray(0, -1)
      before += part.length
    }
  }

  /** Returns this many bytes; undefined when the stream ends before. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#size < count) if (!(await this.#fill())) return undefined
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    const rest = all.subarray(count)
    this.#parts = rest.length > 0 ? [rest] : []
    this.#size = rest.length
    return all.subarray(0, count)
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#source.next()
    if (done) return false
    this.#parts.push(value)
    this.#size += value.length
    return true
  }
}

function readLength(given: unknown, most: number, what: string): number {
  if (given === undefined || given === null) return 0
  if (!Number.isSafeInteger(given) || (given as number) < 0) {
    throw new ProtocolError(`${what}_length is not a length`)
  }
  if ((given as number) > most) throw new ProtocolError(`${what}_length is more than ${most}`)
  return given as number
}

function parseObject(json: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(json.toString())
  } catch {
    throw new ProtocolError('A header line or its data is not JSON')
  }
  if (!isObject(value)) throw new ProtocolError('The JSON is not an object')
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
