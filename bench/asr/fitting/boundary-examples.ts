import {
  CANDIDATES,
  candidateInputs,
  offsetOf,
  type Spectrum,
  spectrumOf,
} from '../../../src/asr/recognition/word-times/boundary-network.ts'
import {
  type BoundarySounds,
  boundarySounds,
} from '../../../src/asr/recognition/word-times/boundary-sounds.ts'
import { LONG_PAUSE } from '../../../src/asr/recognition/word-times/place-boundaries.ts'
import { readSamples } from '../../../src/asr/segmentation/read-samples.ts'
import type { PcmFile } from '../../../src/asr/speech-engine.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import type { Recording, ReferenceWord } from '../../support/corpus.ts'

/**
 * A word whose start seems to be elsewhere: what the network sees, how likely each candidate should
 * be, and the seconds from where the word seems to start to where it does.
 */
export type Example = {
  reader: string
  inputs: Float32Array
  sounds: BoundarySounds
  target: Float32Array
  offset: number
}

/** Examples of each word: with other errors, in other parts of the recording. */
const DRAWS = 8
/** The mean error of the starts that attention finds, in seconds (Laplace distribution). */
const MEAN_ERROR = 0.04
const LARGEST_ERROR = 0.14
/** References are exact to about this, in seconds. */
const REFERENCE_DEVIATION = 0.012
/** The lengths of segments in seconds. */
const [SHORTEST, LONGEST] = [1.5, 12]

/** Makes examples of the words of a recording. `random` gives numbers from 0 to 1. */
export function makeExamples(recording: Recording, pcm: PcmFile, random: () => number): Example[] {
  const samples = readSamples(pcm.path, 0, pcm.samples)
  const words = recording.words ?? []
  return words.flatMap((word, i) => {
    const before = words[i - 1]
    const isNear = before !== undefined && word.start - before.end < LONG_PAUSE
    const sounds = boundarySounds(isNear ? before.word : undefined, word.word)
    const reader = readerOf(recording, word)
    return Array.from({ length: DRAWS }, () => {
      const error = laplace(random())
      const { spectrum, from } = segmentAround(word, samples, random)
      const inputs = candidateInputs(spectrum, word.start + error - from)
      return { reader, inputs, sounds, target: targetOf(-error), offset: -error }
    })
  })
}

/** Returns a part of the recording that begins up to twelve seconds before the word. */
function segmentAround(
  { start, end }: ReferenceWord,
  samples: Float32Array,
  random: () => number,
): { spectrum: Spectrum; from: number } {
  const length = SHORTEST + random() * (LONGEST - SHORTEST)
  const before = 0.15 + random() * (length - 0.15)
  const from = Math.round(Math.max(0, start - before) * SAMPLE_RATE)
  const to = Math.round(Math.max(start - before + length, end) * SAMPLE_RATE)
  return { spectrum: spectrumOf(samples.subarray(from, to)), from: from / SAMPLE_RATE }
}

/** Returns a value of the Laplace distribution for a uniform number from 0 to 1. */
function laplace(uniform: number): number {
  const distance = -MEAN_ERROR * Math.log(Math.max(1e-9, 1 - 2 * Math.abs(uniform - 0.5)))
  return Math.sign(uniform - 0.5) * Math.min(LARGEST_ERROR, distance)
}

function targetOf(offset: number): Float32Array {
  const target = Float32Array.from({ length: CANDIDATES }, (_, candidate) => {
    return Math.exp(-(((offsetOf(candidate) - offset) / REFERENCE_DEVIATION) ** 2) / 2)
  })
  const total = target.reduce((a, b) => a + b)
  return target.map((value) => value / total)
}

/** Returns corpus and reader from the id of a recording: `ls-1688` of `ls-1688-142285-0000`. */
function readerOf({ id, parts }: Recording, { start }: ReferenceWord): string {
  const part = parts?.find((part) => start >= part.start - 0.2 && start <= part.end + 0.2)
  return /^[a-z]+(-\d+)?/.exec(part?.source ?? id)?.[0] ?? id
}
