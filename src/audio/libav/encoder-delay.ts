const delaySamples: Record<string, number> = {
  mp3: 1105,
  mp2: 481,
  aac: 1024,
  aac_latm: 1024,
  ac3: 256,
  eac3: 256,
  dts: 512,
  ra_144: 160,
}

/**
 * Returns the samples that the usual encoder of a codec puts before the first recorded one: its
 * look-ahead and the overlap of its blocks (LAME 576 + 529, one block of AAC or RealAudio 14.4,
 * half a block of AC-3, filter banks). Good containers mark them and libav cuts them off. Bare
 * streams do not, nor does an MP3 without the tag of its encoder: at 8 kHz it would be 138 ms late.
 */
export function defaultDelay(codec: string, sampleRate: number): number {
  if (codec === 'speex') return sampleRate <= 8000 ? 80 : sampleRate <= 16_000 ? 223 : 508
  return delaySamples[codec] ?? 0
}

/**
 * Returns whether decoding loses a block. libav's decoder removes two blocks from every WMA, as
 * Microsoft's encoder requires. libav's own encoder delays by only one (seen in ffmpeg 5.1): its
 * files lose one block of audio, which has to be compensated.
 */
export function losesBlock(codec: string, encoder: string): boolean {
  return /^wmav[12]$/.test(codec) && encoder.startsWith('Lavf')
}
