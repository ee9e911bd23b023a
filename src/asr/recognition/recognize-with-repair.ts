import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { mean } from '../../numbers.ts'
import type { Word } from '../../transcript/transcript.ts'
import type {
  Recognition,
  RecognizeOptions,
  Recognizer,
  RecognizerThresholds,
} from '../engines/recognizer.ts'
import { findNoise } from '../segmentation/noise.ts'
import {
  findPauses,
  joinRanges,
  keptRanges,
  omittedSamples,
  restoreWordTimes,
} from '../segmentation/pauses.ts'
import type { Vad } from '../segmentation/vad.ts'
import { VAD_FRAME } from '../segmentation/vad-frames.ts'
import {
  dropRepeatedPhrases,
  extendLongNumbers,
  extendShortWords,
  isTooShort,
  longNumberDigits,
  MIN_WORD_SECONDS,
} from './word-times/implausible-words.ts'
import { shiftWords } from './word-times/shift-words.ts'

/** The recognition result of one piece of audio; times in seconds from its start. */
export type RecognizedAudio = {
  words: Word[]
  language: string
  uncovered: number
  warnings: string[]
}

/** The recognizer and the VAD with which it is combined. */
export type RecognitionModels = {
  recognizer: Pick<Recognizer, 'recognize' | 'capabilities' | 'thresholds'>
  detector: Pick<Vad, 'detect'>
}

/** Mean speech probability, and voiced seconds, that support a doubtful result. */
const MIN_MEAN_SPEECH = 0.5
const MIN_VOICED = 0.25
/**
 * Text that takes less time than this in all is doubtful: a sound that is no speech became a word.
 * Of 500 single words cut out of speech, one took less, and that one was recognized wrong.
 */
const MIN_TEXT_SECONDS = 0.08
/**
 * A gap of this many seconds between words is checked, and recognized again if it has this many
 * voiced seconds.
 */
const MIN_GAP_SECONDS = 1.2
const MIN_VOICED_IN_GAP = 0.8
/** Words that are too short to have been spoken are checked from this many in a row. */
const MIN_IMPLAUSIBLE_WORDS = 2
/**
 * Text that looped is recognized again in halves; shorter pieces are left as they are, in seconds.
 */
const MIN_HALF_SECONDS = 1

/**
 * Text with fewer words per voiced second, in at least this many voiced seconds, has collapsed: the
 * slowest speakers say twice as many.
 */
const MIN_WORDS = 0.5
const COLLAPSE_SECONDS = 5

/**
 * Recognizes pieces of one channel together and repairs typical errors of encoder-decoders: it
 * recognizes text that loops, or that has next to no words for its speech, again in two halves,
 * retries speech that came back empty without its pauses, then with an empty result forbidden, then
 * in halves, recognizes voiced gaps between words separately, and drops words that the VAD does not
 * support, or that are unlikely in noise. Words too short to have been spoken are replaced by the
 * words recognized in their place, and dropped where they do not fit. Speech that stays without
 * words counts as `uncovered`.
 */
export async function recognizeWithRepair(
  models: RecognitionModels,
  segments: readonly Float32Array[],
  options: RecognizeOptions,
): Promise<RecognizedAudio[]> {
  const first = await recognizeWithVocabulary(models, segments, options)
  // Only doubtful audio is recognized again; with a vocabulary, the recognizer would invent its
  // words there.
  const unlisted = { ...options, vocabulary: [], draft: undefined }
  const recognized: RecognizedAudio[] = []
  for (const [i, recognition] of first.entries()) {
    const audio = segments[i]!
    let repairedRecognition = recognition
    if (!recognition.complete || (await hasCollapsed(models, audio, recognition))) {
      const halves = await recognizeHalves(models, audio, recognition, unlisted)
      const isLess = recognition.complete && halves.words.length <= recognition.words.length
      if (!isLess) repairedRecognition = halves
    }
    const repaired = await repair(models, audio, repairedRecognition, unlisted)
    recognized.push(withoutGuesses(repaired, audio, models.recognizer.thresholds))
  }
  return recognized
}

/** Recognizes pieces, with the vocabulary where the VAD is sure that there is speech. */
async function recognizeWithVocabulary(
  { recognizer, detector }: RecognitionModels,
  segments: readonly Float32Array[],
  options: RecognizeOptions,
): Promise<Recognition[]> {
  if (options.vocabulary.length === 0) return recognizer.recognize(segments, options)
  const voicedIndices: number[] = []
  const otherIndices: number[] = []
  for (const [i, audio] of segments.entries()) {
    const speech = await detector.detect(audio)
    const voiced = voicedSeconds(speech, { start: 0, end: audio.length / SAMPLE_RATE })
    const isConfident = voiced >= MIN_VOICED && mean(speech) >= MIN_MEAN_SPEECH
    const indices = isConfident ? voicedIndices : otherIndices
    indices.push(i)
  }
  const pick = (indices: readonly number[]) => indices.map((i) => segments[i]!)
  const listed =
    voicedIndices.length > 0 ? await recognizer.recognize(pick(voicedIndices), options) : []
  const unlisted = { ...options, vocabulary: [] }
  const plain =
    otherIndices.length > 0 ? await recognizer.recognize(pick(otherIndices), unlisted) : []
  const all = [
    ...voicedIndices.map((i, n) => ({ i, recognition: listed[n]! })),
    ...otherIndices.map((i, n) => ({ i, recognition: plain[n]! })),
  ]
  return all.sort((a, b) => a.i - b.i).map(({ recognition }) => recognition)
}

/**
 * Drops the words that are nearly certainly wrong where there is noise: most are guesses at voices
 * in the background.
 */
function withoutGuesses(
  recognized: RecognizedAudio,
  audio: Float32Array,
  { minConfidenceInNoise }: Pick<RecognizerThresholds, 'minConfidenceInNoise'>,
): RecognizedAudio {
  const guesses = recognized.words.filter(({ confidence }) => confidence < minConfidenceInNoise)
  if (guesses.length === 0 || !findNoise(audio).includes(1)) return recognized
  const words = recognized.words.filter((word) => !guesses.includes(word))
  const seconds = guesses.reduce((sum, { start, end }) => sum + end - start, 0)
  return { ...recognized, words, uncovered: recognized.uncovered + seconds }
}

/**
 * Returns true where speech has next to no words, as when the audio begins with music and the
 * decoder writes only one line. Speech without any words is repaired elsewhere.
 */
async function hasCollapsed(
  { detector }: RecognitionModels,
  audio: Float32Array,
  { words }: Recognition,
): Promise<boolean> {
  const seconds = audio.length / SAMPLE_RATE
  const spoken = words.reduce((sum, { text }) => sum + Math.max(1, longNumberDigits(text)), 0)
  const isFew = (voiced: number) => voiced >= COLLAPSE_SECONDS && spoken < voiced * MIN_WORDS
  if (words.length === 0 || !isFew(seconds)) return false
  return isFew(voicedSeconds(await detector.detect(audio), { start: 0, end: seconds }))
}

/**
 * Recognizes a piece again in two halves, cut at the quietest point, recursively; keeps the first
 * text if the halves give none.
 */
async function recognizeHalves(
  models: RecognitionModels,
  audio: Float32Array,
  looped: Recognition,
  options: RecognizeOptions,
): Promise<Recognition> {
  if (audio.length < 2 * MIN_HALF_SECONDS * SAMPLE_RATE) return looped
  const cut = quietestPoint(audio)
  const halves = [audio.subarray(0, cut), audio.subarray(cut)]
  const recognized = await models.recognizer.recognize(halves, options)
  for (const [i, half] of recognized.entries()) {
    if (!half.complete) recognized[i] = await recognizeHalves(models, halves[i]!, half, options)
  }
  const [left, right] = recognized
  if (!left || !right || left.words.length + right.words.length === 0) return looped
  return {
    ...looped,
    words: [...left.words, ...shiftWords(right.words, cut / SAMPLE_RATE)],
    logProbability: (left.logProbability + right.logProbability) / 2,
    complete: left.complete && right.complete,
  }
}

async function repair(
  models: RecognitionModels,
  audio: Float32Array,
  recognition: Recognition,
  options: RecognizeOptions,
): Promise<RecognizedAudio> {
  const { capabilities, thresholds } = models.recognizer
  const { language, warnings, logProbability } = recognition
  const words = capabilities.wordTimes ? dropRepeatedPhrases(recognition.words) : recognition.words
  const respond = (finalWords: Word[], uncovered: number) => ({
    words: capabilities.wordTimes ? extendShortWords(finalWords) : finalWords,
    language,
    uncovered,
    warnings,
  })
  // Gaps are meaningful only if the model measures word times.
  const gaps = capabilities.wordTimes ? findGaps(words, audio.length / SAMPLE_RATE) : []
  const isDoubtful =
    logProbability < thresholds.minLogProb || (capabilities.wordTimes && isMomentary(words))
  if (words.length > 0 && !isDoubtful && gaps.length === 0) return respond(words, 0)

  const speech = await models.detector.detect(audio)
  const voiced = voicedSeconds(speech, { start: 0, end: audio.length / SAMPLE_RATE })
  if (words.length === 0) {
    if (voiced < MIN_VOICED) return respond([], 0)
    const withoutPauses = await recognizeWithoutPauses(models, audio, { speech, options })
    if (withoutPauses.length > 0) return respond(withoutPauses, 0)
    const [again] = await models.recognizer.recognize([audio], { ...options, forceNonEmpty: true })
    if (again?.complete && again.logProbability >= thresholds.minRetryLogProb)
      return respond(again.words, 0)
    const halves = await recognizeHalves(models, audio, recognition, options)
    const isLikely = halves.complete && halves.logProbability >= thresholds.minRetryLogProb
    return halves.words.length > 0 && isLikely ? respond(halves.words, 0) : respond([], voiced)
  }
  if (isDoubtful && (voiced < MIN_VOICED || mean(speech) < MIN_MEAN_SPEECH)) return respond([], 0)
  let all = words
  let uncovered = 0
  for (const gap of gaps) {
    const { implausiblyShort } = gap
    const missing = voicedSeconds(speech, gap)
    const isVoiced =
      missing >= (implausiblyShort.length >= MIN_IMPLAUSIBLE_WORDS ? MIN_VOICED : MIN_VOICED_IN_GAP)
    const gapWords = isVoiced ? await repairGap(models, audio, gap, options) : []
    if (isVoiced && gapWords.length + implausiblyShort.length === 0) uncovered += missing
    // If the words do not fit into the gap, the recognizer continued a sentence that had ended.
    const fits = implausiblyShort.length * MIN_WORD_SECONDS <= gap.end - gap.start
    const kept =
      gapWords.length === 0 && fits ? all : all.filter((word) => !implausiblyShort.includes(word))
    all = [...kept, ...gapWords].sort((a, b) => a.start - b.start)
  }
  return respond(all, uncovered)
}

function isMomentary(words: readonly Word[]): boolean {
  const [first, last] = [words[0], words.at(-1)]
  return first !== undefined && last !== undefined && last.end - first.start < MIN_TEXT_SECONDS
}

/**
 * Recognizes speech without its pauses, which may be why it came back empty. Returns no words if
 * there are none or they are unsure.
 */
async function recognizeWithoutPauses(
  { recognizer }: RecognitionModels,
  audio: Float32Array,
  { speech, options }: { speech: Float32Array; options: RecognizeOptions },
): Promise<Word[]> {
  const pauses = omittedSamples(findPauses(speech, { start: 0, end: speech.length }))
  if (pauses.length === 0) return []
  const ranges = keptRanges({ start: 0, end: audio.length }, pauses)
  const [gapRecognition] = await recognizer.recognize([joinRanges(audio, ranges)], options)
  const isConfident =
    gapRecognition?.complete &&
    gapRecognition.logProbability >= recognizer.thresholds.minRetryLogProb
  return isConfident ? restoreWordTimes(gapRecognition.words, ranges) : []
}

type TimeSpan = { start: number; end: number }

/**
 * A span between words; `implausiblyShort` are the words in it that are too short to have been
 * spoken.
 */
type Gap = TimeSpan & { implausiblyShort: Word[] }

async function repairGap(
  models: RecognitionModels,
  audio: Float32Array,
  gap: TimeSpan,
  options: RecognizeOptions,
): Promise<Word[]> {
  const from = Math.round(gap.start * SAMPLE_RATE)
  const slice = audio.subarray(from, Math.round(gap.end * SAMPLE_RATE))
  const [sliceRecognition] = await models.recognizer.recognize([slice], options)
  if (
    !sliceRecognition?.complete ||
    sliceRecognition.logProbability < models.recognizer.thresholds.minRetryLogProb
  )
    return []
  return shiftWords(sliceRecognition.words, from / SAMPLE_RATE)
}

/**
 * Returns the spans between words, and between them and the edges of the piece, that are long or
 * hold crammed words. A phrase that was aligned with a few frames leaves a gap where it was spoken:
 * its words and the gap are one span, so that the phrase is not recognized twice.
 */
function findGaps(recognizedWords: readonly Word[], seconds: number): Gap[] {
  if (recognizedWords.length === 0) return []
  const words = extendLongNumbers(recognizedWords, seconds)
  const gaps: Gap[] = []
  let gap: Gap = { start: 0, end: 0, implausiblyShort: [] }
  const close = (end: number) => {
    if (end - gap.start >= MIN_GAP_SECONDS || gap.implausiblyShort.length >= MIN_IMPLAUSIBLE_WORDS)
      gaps.push({ ...gap, end })
  }
  for (const word of words) {
    if (isTooShort(word)) {
      gap.implausiblyShort.push(word)
      continue
    }
    close(word.start)
    gap = { start: word.end, end: 0, implausiblyShort: [] }
  }
  close(seconds)
  return gaps
}

function voicedSeconds(speech: Float32Array, { start, end }: TimeSpan): number {
  const frame = VAD_FRAME / SAMPLE_RATE
  return (
    speech.subarray(Math.floor(start / frame), Math.ceil(end / frame)).filter((p) => p >= 0.5)
      .length * frame
  )
}

/** Returns the sample in the middle half of `audio` around which 100 ms have the least energy. */
export function quietestPoint(audio: Float32Array): number {
  const step = SAMPLE_RATE / 100
  const reach = SAMPLE_RATE / 20
  let best = Math.floor(audio.length / 2)
  let min = Number.POSITIVE_INFINITY
  for (let at = Math.floor(audio.length / 4); at < (audio.length * 3) / 4; at += step) {
    const around = audio.subarray(Math.max(0, at - reach), at + reach)
    let energy = 0
    for (const sample of around) energy += sample * sample
    if (energy < min) [best, min] = [at, energy]
  }
  return best
}
