/**
 * Returns about how many tokens a text has, rather too many: tokens of usual models hold three to
 * four bytes of English, and a letter or two of scripts that take three bytes a letter.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3)
}

/** Cuts a text at line ends, then at blanks, into parts of at most so many tokens. */
export function splitText(text: string, maxTokens: number): string[] {
  const parts: string[] = []
  let part = ''
  for (const piece of text.split(/(?<=\n)/).flatMap((line) => cutLine(line, maxTokens))) {
    if (part !== '' && estimateTokens(part + piece) > maxTokens) {
      parts.push(part)
      part = ''
    }
    part += piece
  }
  if (part !== '') parts.push(part)
  return parts
}

function cutLine(line: string, maxTokens: number): string[] {
  if (estimateTokens(line) <= maxTokens) return [line]
  // A token has three bytes here, and a letter at most four.
  const most = Math.max(1, Math.floor((maxTokens * 3) / 4))
  const pieces: string[] = []
  for (let rest = line; rest !== ''; ) {
    const blank = rest.lastIndexOf(' ', most)
    let end = rest.length <= most ? rest.length : blank > 0 ? blank + 1 : most
    // Never between the halves of a letter.
    if (/[\uD800-\uDBFF]/.test(rest[end - 1]!)) end += end > 1 ? -1 : 1
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return pieces
}
