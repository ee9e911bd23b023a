import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { LanguageProbability, Recognizer } from '../engines/recognizer.ts'
import { quietestPoint } from '../recognition/recognize-with-repair.ts'
import { normalizeLevel } from '../segmentation/gain.ts'
import type { Range } from '../segmentation/pauses.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import type { Vad } from '../segmentation/vad.ts'
import { VAD_FRAME } from '../segmentation/vad-frames.ts'
import type { IdentifyTask, LanguageSpan } from '../speech-engine.ts'

/** The middle of a longer segment suffices to identify its language; in seconds. */
const MAX_IDENTIFIED_SECONDS = 15
/** A segment of at least this length may hold two languages; in seconds. */
const MIXED_SECONDS = 5
/** Windows of about this length are compared first; in seconds. */
const COARSE_WINDOW_SECONDS = 3
/**
 * If a window differs in language from the whole segment with at least this probability, shorter
 * windows are compared too.
 */
const FINE_SEARCH_PROBABILITY = 0.5
const FINE_WINDOW_SECONDS = 2
const FINE_STEP = 0.5
/**
 * The cost of a change of language in the best path over the windows, in nats. The value suits
 * 1-second windows of an identification model, a quarter of a second apart.
 */
const SWITCH_COST = 4
/** The lower bound for the probability of a language in a window. */
const MIN_PROBABILITY = 0.01
/** A shorter span belongs to its neighbor; in seconds. */
const MIN_SPAN_SECONDS = 1.5
/** The maximum number of languages returned for a span. */
const MAX_LANGUAGES = 5

type IdentificationModels = {
  recognizer: Pick<Recognizer, 'id' | 'identifyLanguage'>
  detector: Pick<Vad, 'detect'>
}

type Identify = (
  audio: Float32Array,
  options?: { isRough?: boolean },
) => Promise<LanguageProbability[]>

/**
 * Identifies the language of each segment and, where it may change, of its parts. Returns the spans
 * of each segment, in order.
 */
export async function identifyLanguageSpans(
  { recognizer, detector }: IdentificationModels,
  { path, segments, languages, isMixed }: IdentifyTask,
  signal: AbortSignal,
): Promise<LanguageSpan[][]> {
  if (!recognizer.identifyLanguage) throw new TypeError(`${recognizer.id} identifies no languages`)
  const identify: Identify = (audio, { isRough = false } = {}) => {
    signal.throwIfAborted()
    return recognizer.identifyLanguage!(audio, { languages, isRough, signal })
  }
  const spansOfSegments: LanguageSpan[][] = []
  for (const segment of segments) {
    const audio = normalizeLevel(readSamples(path, segment.start, segment.end))
    const mayChange = isMixed && audio.length >= MIXED_SECONDS * SAMPLE_RATE
    const wholeAudioLanguages = await identify(mayChange ? audio : middleOfAudio(audio))
    const cuts = mayChange ? await findChanges(audio, wholeAudioLanguages, identify) : []
    const speech = await detector.detect(audio)
    const spans: LanguageSpan[] = []
    for (const range of rangesBetween(cuts, audio.length)) {
      const part = audio.subarray(range.start, range.end)
      const probabilities =
        cuts.length === 0 ? wholeAudioLanguages : await identify(middleOfAudio(part))
      spans.push({
        start: segment.start + range.start,
        end: segment.start + range.end,
        seconds: voicedSeconds(speech, range),
        probabilities: probabilities.slice(0, MAX_LANGUAGES),
      })
    }
    spansOfSegments.push(spans)
  }
  return spansOfSegments
}

function middleOfAudio(audio: Float32Array): Float32Array {
  const max = MAX_IDENTIFIED_SECONDS * SAMPLE_RATE
  const from = Math.max(0, Math.floor((audio.length - max) / 2))
  return audio.subarray(from, from + max)
}

function voicedSeconds(speech: Float32Array, { start, end }: Range): number {
  const frames = speech.subarray(Math.floor(start / VAD_FRAME), Math.ceil(end / VAD_FRAME))
  return (frames.filter((probability) => probability >= 0.5).length * VAD_FRAME) / SAMPLE_RATE
}

function rangesBetween(cuts: readonly number[], length: number): Range[] {
  const edges = [0, ...cuts, length]
  return edges.slice(1).map((end, i) => ({ start: edges[i]!, end }))
}

/**
 * Returns the samples at which the language changes; `wholeAudioLanguage` is that of
 * all of the audio.
 */
async function findChanges(
  audio: Float32Array,
  [wholeAudioLanguage]: readonly LanguageProbability[],
  identify: Identify,
): Promise<number[]> {
  const coarse = windowsOf(audio.length, {
    size: COARSE_WINDOW_SECONDS,
    step: COARSE_WINDOW_SECONDS,
  })
  const rough = await identifyEach(audio, coarse, identify)
  const isOther = ([best]: LanguageProbability[]) => {
    return (
      best!.language !== wholeAudioLanguage!.language &&
      best!.probability >= FINE_SEARCH_PROBABILITY
    )
  }
  if (!rough.some(isOther)) return []
  const fineWindows = windowsOf(audio.length, { size: FINE_WINDOW_SECONDS, step: FINE_STEP })
  const path = bestPath(await identifyEach(audio, fineWindows, identify))
  const cuts: number[] = []
  for (let i = 1; i < path.length; i++) {
    if (path[i] === path[i - 1]) continue
    const [before, after] = [fineWindows[i - 1]!, fineWindows[i]!]
    const middle = Math.round((before.start + before.end + after.start + after.end) / 4)
    const from = Math.max(0, middle - SAMPLE_RATE)
    cuts.push(from + quietestPoint(audio.subarray(from, middle + SAMPLE_RATE)))
  }
  return withoutShort(cuts, audio.length)
}

function windowsOf(length: number, { size, step }: { size: number; step: number }): Range[] {
  const max = size * SAMPLE_RATE
  const count = Math.max(1, Math.round((length - max) / (step * SAMPLE_RATE)) + 1)
  return Array.from({ length: count }, (_, i) => {
    const start = count > 1 ? Math.round((i * (length - max)) / (count - 1)) : 0
    return { start, end: Math.min(length, start + max) }
  })
}

async function identifyEach(
  audio: Float32Array,
  windows: readonly Range[],
  identify: Identify,
): Promise<LanguageProbability[][]> {
  const windowProbabilities: LanguageProbability[][] = []
  for (const { start, end } of windows) {
    windowProbabilities.push(await identify(audio.subarray(start, end), { isRough: true }))
  }
  return windowProbabilities
}

/**
 * Returns the most probable sequence of languages, one per window, with a cost for each change
 * (Viterbi).
 */
function bestPath(windows: readonly (readonly LanguageProbability[])[]): string[] {
  const languages = [...new Set(windows.map(([best]) => best!.language))]
  const costOf = (window: readonly LanguageProbability[], language: string) => {
    const match = window.find((one) => one.language === language)
    return -Math.log(Math.max(MIN_PROBABILITY, match?.probability ?? 0))
  }
  let costs = languages.map(() => 0)
  const previous: number[][] = []
  for (const window of windows) {
    const cheapest = costs.indexOf(Math.min(...costs))
    const from = costs.map((cost, i) => (cost <= costs[cheapest]! + SWITCH_COST ? i : cheapest))
    costs = languages.map((language, i) => {
      const change = from[i] === i ? 0 : SWITCH_COST
      return costs[from[i]!]! + change + costOf(window, language)
    })
    previous.push(from)
  }
  let at = costs.indexOf(Math.min(...costs))
  const path: string[] = []
  for (let i = windows.length - 1; i >= 0; i--) {
    path.unshift(languages[at]!)
    at = previous[i]![at]!
  }
  return path
}

/** Drops cuts that leave too short a span. */
function withoutShort(cuts: readonly number[], length: number): number[] {
  const min = MIN_SPAN_SECONDS * SAMPLE_RATE
  const keptCuts: number[] = []
  for (const cut of cuts) {
    if (cut - (keptCuts.at(-1) ?? 0) >= min && length - cut >= min) keptCuts.push(cut)
  }
  return keptCuts
}
