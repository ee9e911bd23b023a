/** Returns audio with silence added at its end, if it has fewer than `minSamples`. */
export function padAudio(audio: Float32Array, minSamples: number): Float32Array {
  if (audio.length >= minSamples) return audio
  const padded = new Float32Array(minSamples)
  padded.set(audio)
  return padded
}
