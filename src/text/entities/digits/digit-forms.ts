/** Converts the digits of other scripts and widths to ASCII, at the same offsets. */
export function foldDigits(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text.replace(/(?!\d)\p{Nd}/gu, (digit) => {
    // A digit outside the basic plane has two code units, so its conversion would shift offsets.
    return digit.length > 1 ? digit : String(valueOfDigit(digit.charCodeAt(0)))
  })
}

/**
 * Returns the value of a digit. The ten digits of a script begin at a code that ends in 0 or 6
 * (Unicode, general category Nd).
 */
function valueOfDigit(code: number): number {
  const row = code & ~0xf
  return /\p{Nd}/u.test(String.fromCharCode(row)) ? code - row : code - row - 6
}
