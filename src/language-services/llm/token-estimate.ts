/**
 * Bytes per token, a low estimate: tokens of common models have about four bytes of English, or one
 * letter of other scripts.
 */
const TOKEN_BYTES = 3

/** Estimates the tokens of a text, rather too many than too few. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / TOKEN_BYTES)
}

const SENTENCE_END = /(?<=\n|[.!?…]\s|[。！？])/

/**
 * Cuts a text into parts of at most `maxTokens` tokens: after lines and sentences; longer ones are
 * cut at spaces.
 */
export function splitText(text: string, maxTokens: number): string[] {
  const parts: string[] = []
  let part = ''
  let bytes = 0
  for (const chunk of text.split(SENTENCE_END).flatMap((line) => cutLine(line, maxTokens))) {
    const chunkBytes = Buffer.byteLength(chunk)
    if (part !== '' && bytes + chunkBytes > maxTokens * TOKEN_BYTES) {
      parts.push(part)
      part = ''
      bytes = 0
    }
    part += chunk
    bytes += chunkBytes
  }
  if (part !== '') parts.push(part)
  return parts
}

/**
 * Groups consecutive items into batches of at most `budget` tokens and `maxItems` items. An item
 * with more tokens is a batch of its own.
 */
export function batchesOf<T>(
  items: readonly T[],
  tokensOf: (item: T) => number,
  { budget, maxItems = Number.POSITIVE_INFINITY }: { budget: number; maxItems?: number },
): T[][] {
  const batches: T[][] = []
  let tokens = Number.POSITIVE_INFINITY
  for (const item of items) {
    const itemTokens = tokensOf(item)
    if (tokens + itemTokens > budget || batches.at(-1)!.length === maxItems) {
      batches.push([])
      tokens = 0
    }
    batches.at(-1)!.push(item)
    tokens += itemTokens
  }
  return batches
}

function cutLine(line: string, maxTokens: number): string[] {
  if (estimateTokens(line) <= maxTokens) return [line]
  // A letter has at most four bytes.
  const max = Math.max(1, Math.floor((maxTokens * TOKEN_BYTES) / 4))
  const chunks: string[] = []
  for (let remainingLine = line; remainingLine !== ''; ) {
    const blank = remainingLine.lastIndexOf(' ', max)
    let end = remainingLine.length <= max ? remainingLine.length : blank > 0 ? blank + 1 : max
    // Never cuts a surrogate pair.
    if (/[\uD800-\uDBFF]/.test(remainingLine[end - 1]!)) end += end > 1 ? -1 : 1
    chunks.push(remainingLine.slice(0, end))
    remainingLine = remainingLine.slice(end)
  }
  return chunks
}
