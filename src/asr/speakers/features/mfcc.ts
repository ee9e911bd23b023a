import { createLogMel } from './log-mel.ts'

/** Samples per second of the telephone model's input. */
export const TELEPHONE_RATE = 8000
/** Numbers in one of its frames. */
export const CEPSTRA = 23
const LIFTER = 22

/** 20 to 3700 Hz, as in the `mfcc.conf` of the model. */
const logMel = createLogMel({ sampleRate: TELEPHONE_RATE, bins: CEPSTRA, low: 20, high: 3700 })
const transform = liftedCosines()

/**
 * Returns the mel cepstra of 8 kHz samples from -1 to 1, frame by frame: 23 of 23 bands, liftered,
 * the first replaced by the log energy (Kaldi, feature-mfcc.cc with the `mfcc.conf` of
 * callhome_diarization v2).
 */
export function mfcc(samples: Float32Array): Float32Array {
  const { frames, mel, energy } = logMel(samples)
  const cepstra = new Float32Array(frames * CEPSTRA)
  for (let t = 0; t < frames; t++) {
    const at = t * CEPSTRA
    cepstra[at] = energy[t]!
    for (let k = 1; k < CEPSTRA; k++) {
      let sum = 0
      for (let bin = 0; bin < CEPSTRA; bin++) sum += transform[k * CEPSTRA + bin]! * mel[at + bin]!
      cepstra[at + k] = sum
    }
  }
  return cepstra
}

/**
 * Returns the orthonormal cosine transform (DCT-II) with the lifter 1 + 11 sin(πk / 22) included.
 */
function liftedCosines(): Float64Array {
  return Float64Array.from({ length: CEPSTRA * CEPSTRA }, (_, i) => {
    const [k, bin] = [Math.floor(i / CEPSTRA), i % CEPSTRA]
    const lift = 1 + (LIFTER / 2) * Math.sin((Math.PI * k) / LIFTER)
    return lift * Math.sqrt(2 / CEPSTRA) * Math.cos((Math.PI / CEPSTRA) * k * (bin + 0.5))
  })
}
