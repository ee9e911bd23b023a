/** Fills rows of at most `width` characters with whole words; a word longer than that has a row of its own. */
export function wrapRows(
  texts: readonly string[],
  { separator, width }: { separator: string; width: number },
): string[] {
  const rows: string[] = []
  for (const text of texts) {
    const row = rows.at(-1)
    const longer = row === undefined ? text : row + separator + text
    if (row === undefined || countCharacters(longer) > width) rows.push(text)
    else rows[rows.length - 1] = longer
  }
  return rows
}

/** Characters as a reader counts them, near enough: code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  return [...text].length
}
