import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Word } from '../../transcript/transcript.ts'
import type {
  PartialRecognition,
  RecognizeOptions,
  Recognizer,
  RecognizerThresholds,
  Segment,
} from '../engines/recognizer.ts'
import { recognizeSegments } from '../recognition/recognize-segments.ts'
import type { RecognitionModels } from '../recognition/recognize-with-repair.ts'
import { shiftWords } from '../recognition/word-times/shift-words.ts'
import { normalizeLevel } from '../segmentation/gain.ts'
import { pausesOf, type Range } from '../segmentation/pauses.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import { fileSegments, splitSegments } from '../segmentation/split-segments.ts'
import { detectSpeechAndNoise } from '../segmentation/vad.ts'
import type { FinalResult, LiveUtterance, PartialResult } from './live-engine.ts'

/**
 * Recognizes an utterance that has ended, like a recording of its own. The text of its last partial
 * as `options.draft` makes it cheaper.
 */
export async function recognizeFinal(
  models: RecognitionModels,
  { path, segment, context = segment }: LiveUtterance,
  options: RecognizeOptions,
): Promise<Omit<FinalResult, 'model'>> {
  const audio = normalizeLevel(readSamples(path, context.start, context.end))
  const isWhole = context.start === segment.start && context.end === segment.end
  const pauses = pausesOf(isWhole ? segment : context)
  const segments = await cutLongAudio(models, audio, pauses)
  const draft = segments.length === 1 ? options.draft : undefined
  const words: Word[] = []
  const warnings = new Set<string>()
  let language = options.language ?? models.recognizer.capabilities.languages[0]!
  for (const segment of segments) {
    const { start, end } = segment
    const spoken = { audio: audio.subarray(start, end), pauses: pausesOf(segment) }
    const [recognized] = await recognizeSegments(models, [spoken], { ...options, draft })
    words.push(...shiftWords(recognized!.words, (context.start + start) / SAMPLE_RATE))
    for (const warning of recognized!.warnings) warnings.add(warning)
    language = recognized!.language
  }
  return { ...wordsWithin(words, { segment, context }), language, warnings: [...warnings] }
}

/**
 * Returns the words of a context that begin in its segment, and the one before them. Times are
 * seconds. A recognizer ends every audio with a full stop: it is removed where speech goes on after
 * the segment and no word after it was recognized.
 */
export function wordsWithin<T extends Pick<Word, 'text' | 'start'>>(
  words: readonly T[],
  { segment, context }: Record<'segment' | 'context', Pick<Segment, 'start' | 'end'>>,
): { words: T[]; wordBefore?: string } {
  const [from, to] = [segment.start / SAMPLE_RATE, segment.end / SAMPLE_RATE]
  const before = words.findLast((word) => word.start < from)
  const isCut = context.end > segment.end
  return {
    words: words
      .filter((word) => word.start >= from && word.start < to)
      .map((word) => (isCut && word === words.at(-1) ? withoutFullStop(word) : word)),
    ...(before && { wordBefore: before.text }),
  }
}

/** Removes the full stop of a word, but not the dots of an ellipsis or of letters such as U.S. */
function withoutFullStop<T extends Pick<Word, 'text'>>(word: T): T {
  return { ...word, text: word.text.replace(/^([^.]+)\.$/, '$1') }
}

/** Cuts an utterance that is too long for the recognizer at pauses, like a recording. */
async function cutLongAudio(
  { recognizer, detector }: RecognitionModels,
  audio: Float32Array,
  pauses: Range[],
): Promise<Segment[]> {
  const { maxSeconds } = recognizer.capabilities
  if (audio.length <= maxSeconds * SAMPLE_RATE) return [{ start: 0, end: audio.length, pauses }]
  return splitSegments(await detectSpeechAndNoise(detector, audio), audio.length, {
    ...fileSegments,
    maxSeconds,
  })
}

/**
 * The utterance to recognize, the `draft` of the partial before, and whether nothing of it was
 * shown yet.
 */
export type PartialUtterance = {
  utterance: LiveUtterance
  draft: readonly number[]
  isFirst: boolean
}

/**
 * Recognizes an utterance that is still open. The first partial always shows a word: the speaker
 * waits for a sign that recognition works. On 54 beginnings of read and spoken sentences a
 * confident first word came up to a second after speech began, the first guess within 0.4 s and
 * right in two of three cases.
 */
export async function recognizePartial(
  recognizer: Pick<Recognizer, 'recognizePartial' | 'thresholds'>,
  { utterance, draft, isFirst }: PartialUtterance,
  options: RecognizeOptions,
): Promise<Omit<PartialResult, 'model'>> {
  const { path, segment } = utterance
  const { thresholds } = recognizer
  const audio = normalizeLevel(readSamples(path, segment.start, segment.end))
  const recognized = await recognizer.recognizePartial(audio, { ...options, draft })
  const { language } = recognized
  const isConfident = recognized.logProbability >= thresholds.minPartialLogProb
  const words = isConfident ? stableWords(recognized, audio.length / SAMPLE_RATE, thresholds) : []
  if (words.length > 0 || !isFirst) {
    return {
      words: shiftWords(words, segment.start / SAMPLE_RATE),
      language,
      draft: isConfident ? recognized.tokens : [],
    }
  }
  const hasWords = recognized.words.length > 0
  const forced = { ...options, draft: [], forceNonEmpty: true }
  const guess = hasWords ? recognized : await recognizer.recognizePartial(audio, forced)
  const first = guess.words.slice(0, 1)
  return { words: shiftWords(first, segment.start / SAMPLE_RATE), language, draft: guess.tokens }
}

/**
 * A word that the draft lacks must begin and end so long before the end of the audio, in seconds.
 */
const START_MARGIN_SECONDS = 0.25
const END_MARGIN_SECONDS = 0.05
/** It must also be likely (`minPartialWordConfidence`), unless it lies this far back. */
const FAR_BACK = 1

/**
 * Returns the words that will hardly change: at the end of the audio the model completes speech
 * that is not there yet. On 75 partials of six recordings 40 words were retracted, 65 without this.
 */
export function stableWords(
  { words, agreed }: PartialRecognition,
  seconds: number,
  { minPartialWordConfidence }: Pick<RecognizerThresholds, 'minPartialWordConfidence'>,
): Word[] {
  const isStable = ({ start, end, confidence }: Word, i: number) => {
    if (i < agreed || end < seconds - FAR_BACK) return true
    return (
      confidence >= minPartialWordConfidence &&
      start < seconds - START_MARGIN_SECONDS &&
      end < seconds - END_MARGIN_SECONDS
    )
  }
  const doubtful = words.findIndex((word, i) => !isStable(word, i))
  return doubtful < 0 ? words : words.slice(0, doubtful)
}
