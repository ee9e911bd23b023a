/**
 * Fewer bytes than tokens of usual models have: about four of English, a letter of other scripts.
 */
const TOKEN_BYTES = 3

/** Returns about how many tokens a text has, rather too many. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / TOKEN_BYTES)
}

const SENTENCE_END = /(?<=\n|[.!?…]\s|[。！？])/

/**
 * Cuts a text into parts of at most so many tokens: at ends of lines and sentences, and where one
 * is longer, at blanks.
 */
export function splitText(text: string, maxTokens: number): string[] {
  const parts: string[] = []
  let part = ''
  let bytes = 0
  for (const chunk of text.split(SENTENCE_END).flatMap((line) => cutLine(line, maxTokens))) {
    const more = Buffer.byteLength(chunk)
    if (part !== '' && bytes + more > maxTokens * TOKEN_BYTES) {
      parts.push(part)
      part = ''
      bytes = 0
    }
    part += chunk
    bytes += more
  }
  if (part !== '') parts.push(part)
  return parts
}

/**
 * Groups items in their order, as many of them together as have at most `budget` tokens, and at
 * most `maxItems`. An item that has more is alone.
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
    // Never between the halves of a letter.
    if (/[\uD800-\uDBFF]/.test(remainingLine[end - 1]!)) end += end > 1 ? -1 : 1
    chunks.push(remainingLine.slice(0, end))
    remainingLine = remainingLine.slice(end)
  }
  return chunks
}
