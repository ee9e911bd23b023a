import { isObject } from '../../is-object.ts'

/** The content of one client frame. */
export type ClientFrame =
  | { type: 'audio'; bytes: Uint8Array }
  | { type: 'stop' }
  /** A chunk whose audio cannot be decoded; it is answered with a negative acknowledgment. */
  | { type: 'refused'; status: 400; exception: 'InvalidChunk'; message: string }
  /** A message that cannot be read; it is answered with an `error` message. */
  | { type: 'unreadable'; message: string }

/** Parses a frame. The audio bytes may share the memory of `data`. */
export function readFrame(data: Uint8Array, isBinary: boolean): ClientFrame {
  if (isBinary) return { type: 'audio', bytes: data }
  const text = Buffer.from(data.buffer, data.byteOffset, data.length)
  const bytes = readSimpleChunk(text)
  if (bytes) return { type: 'audio', bytes }
  if (hasManyValues(text)) {
    return { type: 'unreadable', message: `the message has more than ${MANY_VALUES} values` }
  }
  return readMessage(parseFrameJson(text.toString()))
}

function readMessage(message: unknown): ClientFrame {
  if (!isObject(message)) return { type: 'unreadable', message: 'the message is not a JSON object' }
  if (message.type === 'stop_recording') return { type: 'stop' }
  if (message.type !== 'audio_chunk') {
    return { type: 'unreadable', message: 'the type of the message is unknown' }
  }
  const chunk = isObject(message.data) ? message.data.chunk : undefined
  if (typeof chunk !== 'string') return refused('chunk is not a string')
  const bytes = decodeBase64(chunk)
  return bytes ? { type: 'audio', bytes } : refused('chunk is not valid base64')
}

function refused(message: string): ClientFrame {
  return { type: 'refused', status: 400, exception: 'InvalidChunk', message }
}

/** The text before and after the base64 of a chunk, as all known clients write it; spaces vary. */
const HEAD = /^\s*\{\s*"type"\s*:\s*"audio_chunk"\s*,\s*"data"\s*:\s*\{\s*"chunk"\s*:\s*"/
const TAIL = /"\s*\}\s*\}\s*$/
/** The text before and after the base64 is searched in this many bytes at either end. */
const MARGIN = 100

/**
 * Reads the audio of a message in the usual form; undefined when it has another one. Cutting the
 * base64 out of the text takes a quarter of the time of parsing the JSON: what a client had to
 * buffer while its connection was lost arrives as one message of up to 32 MiB.
 */
function readSimpleChunk(text: Buffer): Uint8Array | undefined {
  const head = HEAD.exec(text.toString('latin1', 0, MARGIN))
  const end = Math.max(text.length - MARGIN, head?.[0].length ?? 0)
  const tail = head && TAIL.exec(text.toString('latin1', end))
  return tail ? decodeBase64(text.toString('latin1', head[0].length, end + tail.index)) : undefined
}

/**
 * Decodes base64 of RFC 4648, 4: padding is required and no other character is accepted, since
 * decoders disagree on their meaning; the unused bits of a last character may be anything, which
 * nearly all accept. Node skips unknown characters, so the length shows whether there were any; but
 * it also accepts URL-safe base64, and uses only the low byte of a character beyond one byte.
 */
function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || Buffer.byteLength(text) !== text.length) return undefined
  if (text.includes('-') || text.includes('_')) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : undefined
}

/**
 * A message with more bytes and more values than this is refused unparsed: the only long message is
 * a chunk, which is one value. The parser takes 40 ms for a megabyte of brackets, and all other
 * sessions would wait for it.
 */
const [MANY_BYTES, MANY_VALUES] = [64 * 1024, 1000]

/** Returns whether a message is too expensive to parse. */
export function hasManyValues(text: Buffer): boolean {
  if (text.length <= MANY_BYTES) return false
  let valueCount = 0
  for (const mark of '[{,') {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      if (++valueCount > MANY_VALUES) return true
    }
  }
  return false
}

function parseFrameJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
