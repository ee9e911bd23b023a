/**
 * As much as most servers ever send; a log of many attempts must not be filled by a few responses.
 */
const MAX_BYTES = 8 * 1024
/** It says when to retry, and is useless when it is longer. */
const MAX_RETRY_AFTER_BYTES = 256

/**
 * Returns the first 8 KB of headers, none of them cut, always with `Retry-After`; then how many
 * were left out.
 */
export function limitHeaders(headers: Record<string, string>): Record<string, string> {
  const keptHeaders: [name: string, value: string][] = []
  let bytes = 0
  let remainingBytes = 0
  for (const [name, value] of Object.entries(headers)) {
    const size = Buffer.byteLength(name) + Buffer.byteLength(value)
    const isNeeded = name === 'retry-after' && size <= MAX_RETRY_AFTER_BYTES
    if (!isNeeded && bytes + size > MAX_BYTES) remainingBytes++
    else {
      keptHeaders.push([name, value])
      bytes += size
    }
  }
  // No header can have such a name.
  if (remainingBytes > 0)
    keptHeaders.push([
      '(left out)',
      remainingBytes === 1 ? '1 header' : `${remainingBytes} headers`,
    ])
  return Object.fromEntries(keptHeaders)
}
