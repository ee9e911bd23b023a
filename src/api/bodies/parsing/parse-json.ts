import { AppError } from '../../../errors.ts'

/**
 * The deepest nesting. Valid requests have at most six levels; deep values only harm recursive
 * code.
 */
const MAX_JSON_DEPTH = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Parses the bytes of a JSON body; rejects with `body_unreadable`. Keys such as `__proto__` become
 * own fields of the value like any other. They could reach a prototype only if a reader copied
 * fields by assignment, which none does.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (nestsTooDeep(bytes)) {
    throw new AppError('body_unreadable', `it nests deeper than ${MAX_JSON_DEPTH} levels`)
  }
  const text = decodeUtf8(bytes)
  if (text === '') throw new AppError('body_unreadable', 'it is empty')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('body_unreadable', 'it is not valid JSON', { cause })
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // Removes a byte order mark, which some clients cannot avoid.
    return decoder.decode(bytes)
  } catch (cause) {
    throw new AppError('body_unreadable', 'it is not UTF-8', { cause })
  }
}

/**
 * Returns whether a JSON text is nested too deeply. It counts brackets outside strings, so that no
 * deep value is ever built.
 */
function nestsTooDeep(json: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (inString && byte === BACKSLASH) i++
    else if (byte === QUOTE) inString = !inString
    else if (inString) continue
    else if (byte === 0x5b || byte === 0x7b)
      depth++ // [ {
    else if (byte === 0x5d || byte === 0x7d) depth-- // ] }
    if (depth > MAX_JSON_DEPTH) return true
  }
  return false
}
