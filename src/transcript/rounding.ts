/** Rounds to a number of digits after the decimal point: word times have 3, durations 6. */
export function roundTo(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
