/**
 * Maximum bytes of the logged headers, which few servers exceed; a few responses must not fill the
 * log.
 */
const MAX_BYTES = 8 * 1024
/** A longer `Retry-After` is invalid, and is treated like any header. */
const MAX_RETRY_AFTER_BYTES = 256

/**
 * Returns the first 8 KB of headers, each of them complete and always with `Retry-After`; a last
 * entry states how many were omitted.
 */
export function limitHeaders(headers: Record<string, string>): Record<string, string> {
  const keptHeaders: [name: string, value: string][] = []
  let bytes = 0
  let omittedCount = 0
  for (const [name, value] of Object.entries(headers)) {
    const size = Buffer.byteLength(name) + Buffer.byteLength(value)
    const isNeeded = name === 'retry-after' && size <= MAX_RETRY_AFTER_BYTES
    if (!isNeeded && bytes + size > MAX_BYTES) omittedCount++
    else {
      keptHeaders.push([name, value])
      bytes += size
    }
  }
  // The name of this entry cannot be that of a header.
  if (omittedCount > 0)
    keptHeaders.push(['(left out)', omittedCount === 1 ? '1 header' : `${omittedCount} headers`])
  return Object.fromEntries(keptHeaders)
}
