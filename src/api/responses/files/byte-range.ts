/** A range of bytes; both ends are inclusive. */
export type ByteRange = { start: number; end: number }

/**
 * Parses a `Range` header for a body of `size` bytes (RFC 9110, 14.2). Returns the range,
 * `unsatisfiable`, or undefined if the whole body is to be sent, as for several ranges or an
 * unreadable header.
 */
export function parseByteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end }
}
