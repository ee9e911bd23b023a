/** Maximum bytes of a response body in the log. */
export const EXCERPT_BYTES = 1024
/**
 * Bodies up to this size are read to their end, so that the connection can be reused; the
 * connection of a longer body is closed.
 */
const MAX_READ_BYTES = 64 * 1024

type Body = AsyncIterable<Uint8Array> & {
  destroy(): unknown
  on(event: 'error', on: () => void): unknown
}

/**
 * Returns the first kilobyte of a response as text, not cut within a character; invalid UTF-8 is
 * replaced. Reads the body to its end, up to 64 KB and for `timeout` milliseconds; then its
 * connection is closed. If the body breaks off, returns what arrived.
 */
export async function readResponseExcerpt(
  body: Body,
  { timeout }: { timeout: number },
): Promise<string> {
  const start: Uint8Array[] = []
  let bytes = 0
  let isWhole = false
  // Without a listener, an abort after the last read would be an uncaught error.
  body.on('error', () => {})
  const timer = setTimeout(() => body.destroy(), timeout)
  try {
    for await (const chunk of body) {
      if (bytes < EXCERPT_BYTES) start.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_READ_BYTES) break
    }
    isWhole = bytes <= EXCERPT_BYTES
  } catch {
    // The head has already decided the outcome.
  }
  clearTimeout(timer)
  const text = Buffer.concat(start).subarray(0, EXCERPT_BYTES)
  // Leaves out a partial character at the cut. No database stores U+0000 in a text.
  return new TextDecoder().decode(text, { stream: !isWhole }).replaceAll('\0', '\ufffd')
}
