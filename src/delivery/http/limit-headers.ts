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
  const kept: [name: string, value: string][] = []
  let bytes = 0
  let left = 0
  for (const [name, value] of Object.entries(headers)) {
    const size = Buffer.byteLength(name) + Buffer.byteLength(value)
    const isNeeded = name === 'retry-after' && size <= MAX_RETRY_AFTER_BYTES
    if (!isNeeded && bytes + size > MAX_BYTES) left++
    else {
      kept.push([name, value])
      bytes += size
    }
  }
  // No header can have such a name.
  if (left > 0) kept.push(['(left out)', left === 1 ? '1 header' : `${left} headers`])
  return Object.fromEntries(kept)
}
