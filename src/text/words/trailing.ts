/**
 * Returns where the trailing characters of a text begin that each match `character`; the text's
 * length where the last one does not match. Reads from the end, because an expression like `/x*$/`
 * takes quadratic time for a long row of x inside the text.
 */
export function trailingFrom(text: string, character: RegExp): number {
  let from = text.length
  while (from > 0) {
    const before = from - (isPair(text, from - 2) ? 2 : 1)
    if (!character.test(text.slice(before, from))) break
    from = before
  }
  return from
}

/** Returns whether the code units at `at` and after it are one character. */
function isPair(text: string, at: number): boolean {
  return at >= 0 && text.codePointAt(at)! > 0xffff
}
