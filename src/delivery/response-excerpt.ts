/** What the log keeps of an answer. */
const EXCERPT_BYTES = 1024
/** So much is read, for the connection to be of use again; that of a longer body is dropped. */
const MAX_READ_BYTES = 64 * 1024

type Body = AsyncIterable<Uint8Array> & {
  destroy(): unknown
  on(event: 'error', on: () => void): unknown
}

/**
 * The first kilobyte of an answer as text, not cut within a character; what is no UTF-8 is replaced. The
 * body is read to its end, up to 64 KB and for `timeout` milliseconds; then its connection is dropped. One
 * that breaks off gives what came.
 */
export async function readResponseExcerpt(
  body: Body,
  { timeout }: { timeout: number },
): Promise<string> {
  const start: Uint8Array[] = []
  let bytes = 0
  let isWhole = false
  // Without a listener, an abort after the last read would be an error that nobody caught.
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), timeout)
  try {
    for await (const piece of body) {
      if (bytes < EXCERPT_BYTES) start.push(piece)
      bytes += piece.length
      if (bytes > MAX_READ_BYTES) break
    }
    isWhole = bytes <= EXCERPT_BYTES
  } catch {
    // The head has decided already.
  }
  clearTimeout(timer)
  const text = Buffer.concat(start).subarray(0, EXCERPT_BYTES)
  // Of what was cut, the beginning of a character is left out. No database holds U+0000 in a text.
  return new TextDecoder().decode(text, { stream: !isWhole }).replaceAll('\0', '\ufffd')
}
