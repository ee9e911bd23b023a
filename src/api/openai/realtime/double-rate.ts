/**
 * Creates a function that doubles the sample rate of 16-bit little-endian PCM, by linear
 * interpolation: sessions accept 48 kHz, clients of OpenAI's API send 24 kHz. Chunks may end within
 * a sample.
 */
export function createRateDoubler(): (chunk: Uint8Array) => Uint8Array {
  let remainingBytes = Buffer.alloc(0)
  let previousSample = 0
  return (chunk) => {
    const input =
      remainingBytes.length > 0 ? Buffer.concat([remainingBytes, chunk]) : Buffer.from(chunk)
    const samples = input.length >> 1
    remainingBytes = input.subarray(2 * samples)
    const doubled = Buffer.alloc(4 * samples)
    for (let i = 0; i < samples; i++) {
      const sample = input.readInt16LE(2 * i)
      doubled.writeInt16LE((previousSample + sample) >> 1, 4 * i)
      doubled.writeInt16LE(sample, 4 * i + 2)
      previousSample = sample
    }
    return doubled
  }
}
