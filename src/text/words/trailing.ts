/**
 * Returns the index at which the trailing characters of a text begin that each match `character`;
 * the length of the text if the last one does not match. Reads from the end, because an expression
 * like `/x*$/` takes quadratic time for a long run of x inside the text.
 */
export function trailingFrom(text: string, character: RegExp): number {
  let from = text.length
  while (from > 0) {
    const before = from - (isSurrogatePair(text, from - 2) ? 2 : 1)
    if (!character.test(text.slice(before, from))) break
    from = before
  }
  return from
}

/** Returns whether the code unit at `at` and the next one are one character. */
function isSurrogatePair(text: string, at: number): boolean {
  return at >= 0 && text.codePointAt(at)! > 0xffff
}
