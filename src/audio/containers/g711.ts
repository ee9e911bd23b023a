/** Returns the sample in [-1, 1] of one mu-law byte (ITU-T G.711). */
export function decodeMuLaw(byte: number): number {
  return muLaw[byte]!
}

/** Returns the sample in [-1, 1] of one A-law byte (ITU-T G.711). */
export function decodeALaw(byte: number): number {
  return aLaw[byte]!
}

const muLaw = Float32Array.from({ length: 256 }, (_, byte) => expandMuLaw(byte) / 32_768)
const aLaw = Float32Array.from({ length: 256 }, (_, byte) => expandALaw(byte) / 32_768)

/** Decodes inverted bits: a sign, three bits of exponent and four of mantissa; 132 is the bias. */
function expandMuLaw(byte: number): number {
  const bits = ~byte & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 7)) - 132
  return bits & 0x80 ? -magnitude : magnitude
}

/**
 * Decodes bits of which every second one is inverted (0x55); a set sign bit means a positive
 * sample.
 */
function expandALaw(byte: number): number {
  const bits = byte ^ 0x55
  const exponent = (bits >> 4) & 7
  const mantissa = ((bits & 0x0f) << 4) + 8
  const magnitude = exponent === 0 ? mantissa : (mantissa + 256) << (exponent - 1)
  return bits & 0x80 ? magnitude : -magnitude
}
