/** Rounds to a number of digits after the decimal point: word times have 3, durations 6. */
export function roundTo(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}

/** Rounds down: a time within the audio stays within it. */
export function floorTo(value: number, digits: number): number {
  const scale = 10 ** digits
  // A value with `digits` decimals may be slightly smaller in binary.
  return Math.floor(value * scale + 1e-6) / scale
}
