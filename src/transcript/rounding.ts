/** Rounds to a number of digits behind the point: times of words have 3, durations 6. */
export function roundTo(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
