/** Returns a WAV file with 16-bit mono samples at 16 kHz. */
export function wavOf(samples: Buffer): Buffer {
  return Buffer.concat([wavHeader(samples.length), samples])
}

/** Returns the WAV header of 44 bytes for `dataBytes` bytes of 16-bit mono samples at 16 kHz. */
export function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(32_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  return header
}
