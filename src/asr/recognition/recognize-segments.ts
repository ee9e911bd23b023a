import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { mean } from '../../numbers.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { RecognizeOptions } from '../engines/recognizer.ts'
import { joinRanges, keptRanges, type Range, restoreWordTimes } from '../segmentation/pauses.ts'
import {
  type RecognitionModels,
  type RecognizedAudio,
  recognizeWithRepair,
} from './recognize-with-repair.ts'

/** Words below this mean confidence are compared with those of the fragments alone. */
const SURE_CONFIDENCE = 0.75
/**
 * The confidence by which the fragments alone must be better where each fragment has a word
 * already, since single words have little context.
 */
const ALONE_MARGIN = 0.15
/** Seconds of the pauses around a fragment that are recognized with it. */
const MARGIN_SECONDS = 0.1

/** The audio of a segment, and the pauses in it, in samples. */
export type SegmentAudio = { audio: Float32Array; pauses: readonly Range[] }

/**
 * Recognizes segments. Those that were spoken in fragments, such as digits with pauses, are
 * recognized without the pauses: a single word gives the model little context, and silence around
 * it makes the model return nothing. If that gives unsure words, the fragments are also recognized
 * alone.
 */
export async function recognizeSegments(
  models: RecognitionModels,
  segments: readonly SegmentAudio[],
  options: RecognizeOptions,
): Promise<RecognizedAudio[]> {
  const ranges = segments.map(({ audio, pauses }) =>
    keptRanges({ start: 0, end: audio.length }, pauses),
  )
  const pieces = segments.map(({ audio, pauses }, i) => {
    return pauses.length > 0 ? joinRanges(audio, ranges[i]!) : audio
  })
  const recognized = await recognizeWithRepair(models, pieces, options)
  for (const [i, { audio, pauses }] of segments.entries()) {
    if (pauses.length === 0) continue
    const joined = recognized[i]!
    const words = restoreWordTimes(joined.words, ranges[i]!)
    recognized[i] = { ...joined, words }
    if (meanConfidence(words) >= SURE_CONFIDENCE) continue
    const alone = await recognizeAlone(models, audio, { ranges: ranges[i]!, options })
    const margin = words.length < ranges[i]!.length ? 0 : ALONE_MARGIN
    if (alone.confidence > meanConfidence(words) + margin)
      recognized[i] = { ...joined, ...alone.piece }
  }
  return recognized
}

type Fragments = { ranges: readonly Range[]; options: RecognizeOptions }

async function recognizeAlone(
  models: RecognitionModels,
  audio: Float32Array,
  { ranges, options }: Fragments,
): Promise<{ piece: Pick<RecognizedAudio, 'words' | 'uncovered'>; confidence: number }> {
  const wide = ranges.map(({ start, end }, i) => {
    const before = i > 0 ? (start - ranges[i - 1]!.end) / 2 : start
    const after = i + 1 < ranges.length ? (ranges[i + 1]!.start - end) / 2 : audio.length - end
    const margin = MARGIN_SECONDS * SAMPLE_RATE
    return {
      start: Math.ceil(start - Math.min(margin, before)),
      end: Math.floor(end + Math.min(margin, after)),
    }
  })
  const pieces = wide.map(({ start, end }) => audio.subarray(start, end))
  const recognizedPieces = await recognizeWithRepair(models, pieces, {
    ...options,
    draft: undefined,
  })
  const words = recognizedPieces.flatMap((piece, i) => {
    const offset = wide[i]!.start / SAMPLE_RATE
    return piece.words.map((word) => {
      return { ...word, start: word.start + offset, end: word.end + offset }
    })
  })
  // A fragment without words counts as a word without confidence.
  const empty = recognizedPieces.filter((piece) => piece.words.length === 0).length
  const confidence = (meanConfidence(words) * words.length) / (words.length + empty)
  const uncovered = recognizedPieces.reduce((sum, piece) => sum + piece.uncovered, 0)
  return { piece: { words, uncovered }, confidence: words.length > 0 ? confidence : 0 }
}

function meanConfidence(words: readonly Word[]): number {
  return mean(words.map(({ confidence }) => confidence))
}
