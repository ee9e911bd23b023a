import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { mapConcurrently } from '../../workers/map-concurrently.ts'
import type { LanguageProbability, Segment } from '../engines/recognizer.ts'
import type { LanguageIdentification } from '../model-selection/select-models.ts'
import { planBatches } from '../segmentation/batches.ts'
import type {
  Batch,
  CheckpointLanguages,
  EngineOptions,
  IdentifyTask,
  LanguagePart,
  LanguageSpan,
} from '../speech-engine.ts'

/**
 * How to identify the languages of a task, how to checkpoint the result, and the limit of
 * concurrent tasks.
 */
export type IdentifyOptions = EngineOptions & {
  identify(task: IdentifyTask, signal: AbortSignal): Promise<LanguageSpan[][]>
  checkpointLanguages?: CheckpointLanguages | undefined
  limit: number
}

/** The number of segments in one task. */
const TASK_SEGMENTS = 8
/** If one language is chosen for the whole recording, this many segments, spread over it, vote. */
const VOTERS = 8
/** A voter should be this long, in seconds. */
const VOTER_SECONDS = 3
/**
 * Speech is clear from this length, in seconds, and this probability on; shorter speech takes the
 * language of its neighbor unless it is very probable.
 */
const CLEAR_SECONDS = 1.5
const CLEAR_PROBABILITY = 0.5
const CLEAR_IF_SHORT = 0.95
/** Within a segment, without a pause, the language changes only if the new one is this probable. */
const CLEAR_CHANGE = 0.8

type LocatedSegment = { channel: number; path: string; segment: Segment }
type ChannelLanguageSpan = LanguageSpan & { channel: number; path: string; segment: Segment }

/**
 * Identifies the languages of the speech in `batches`, and replans it: each batch is in one
 * language and names the model of that. Where languages may change from utterance to utterance,
 * each segment has its own, or several; otherwise one language is chosen for all.
 */
export async function identifyLanguages(
  batches: readonly Batch[],
  identification: LanguageIdentification,
  options: IdentifyOptions,
): Promise<Batch[]> {
  const all = batches.flatMap(({ channel, path, segments }) => {
    return segments.map((segment) => ({ channel, path, segment }))
  })
  all.sort((a, b) => a.channel - b.channel || a.segment.start - b.segment.start)
  if (all.length === 0) return [...batches]
  const { perUtterance } = identification
  const voters = perUtterance ? all : chooseVoters(all)
  const spans = await identifyAll(voters, identification, options)
  if (perUtterance) return planByLanguage(inheritLanguages(spans, identification), identification)
  const { language, probability } = voteLanguage(spans, identification)
  const singleSpans = all.map((located) => ({ ...located, language, probability }))
  return planByLanguage(singleSpans, identification)
}

/** Returns segments that are long enough, spread evenly; the longest where all are short. */
function chooseVoters(all: readonly LocatedSegment[]): LocatedSegment[] {
  const lengthOf = ({ segment }: LocatedSegment) => segment.end - segment.start
  const long = all.filter((located) => lengthOf(located) >= VOTER_SECONDS * SAMPLE_RATE)
  if (long.length === 0) {
    return all.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, VOTERS)
  }
  if (long.length <= VOTERS) return long
  return Array.from({ length: VOTERS }, (_, i) => long[Math.floor((i * long.length) / VOTERS)]!)
}

async function identifyAll(
  located: readonly LocatedSegment[],
  { model, languages, perUtterance }: LanguageIdentification,
  {
    identify,
    checkpointLanguages = (_, identifyNow) => identifyNow(),
    limit,
    signal,
    onProgress,
  }: IdentifyOptions,
): Promise<ChannelLanguageSpan[]> {
  const parts: (LanguagePart & { located: LocatedSegment[] })[] = []
  const codes = languages.map(({ language }) => language)
  for (const locatedSegment of located) {
    const last = parts.at(-1)
    if (last?.channel === locatedSegment.channel && last.located.length < TASK_SEGMENTS) {
      last.located.push(locatedSegment)
    } else {
      const { channel, path } = locatedSegment
      const part = { channel, path, segments: [], model, languages: codes, isMixed: perUtterance }
      parts.push({ ...part, located: [locatedSegment] })
    }
  }
  let done = 0
  const identifiedSpans = await mapConcurrently(
    parts,
    async ({ located, channel, ...part }, signal) => {
      const task = { ...part, segments: located.map(({ segment }) => segment) }
      const spans = await checkpointLanguages({ ...task, channel }, () => identify(task, signal))
      onProgress?.(++done / parts.length)
      return spans.flatMap((segmentSpans, i) =>
        segmentSpans.map((span) => ({ ...located[i]!, ...span })),
      )
    },
    { limit, signal },
  )
  return identifiedSpans.flat()
}

/** Returns the language with the highest mean probability, longer speech counting more. */
function voteLanguage(
  spans: readonly LanguageSpan[],
  { languages: [defaultLanguage] }: LanguageIdentification,
): LanguageProbability {
  const sums = new Map<string, number>()
  let total = 0
  for (const { seconds, probabilities } of spans) {
    total += seconds
    for (const { language, probability } of probabilities) {
      sums.set(language, (sums.get(language) ?? 0) + seconds * probability)
    }
  }
  const [[language, sum] = [defaultLanguage!.language, 0]] = [...sums].sort(([, a], [, b]) => b - a)
  return { language, probability: total > 0 ? sum / total : 0 }
}

type LanguageDecision = LocatedSegment & { language: string; probability: number }

/** Returns true if the language of a span is certain enough without the spans around it. */
export function isClear({ seconds, probabilities: [best] }: LanguageSpan): boolean {
  if (!best) return false
  return best.probability >= (seconds >= CLEAR_SECONDS ? CLEAR_PROBABILITY : CLEAR_IF_SHORT)
}

/**
 * Decides the language of each span. One that is not clear takes that of the clear one before
 * it, or after it, on its channel; where no span is clear, all vote.
 */
function inheritLanguages(
  spans: readonly ChannelLanguageSpan[],
  identification: LanguageIdentification,
): LanguageDecision[] {
  const voted = voteLanguage(spans, identification)
  const isReliable = (otherSpan: ChannelLanguageSpan) => {
    const isWhole =
      otherSpan.start === otherSpan.segment.start && otherSpan.end === otherSpan.segment.end
    return (
      isClear(otherSpan) && (isWhole || otherSpan.probabilities[0]!.probability >= CLEAR_CHANGE)
    )
  }
  const decided = spans.map((span, i) => {
    const isNear = (otherSpan: ChannelLanguageSpan) =>
      otherSpan.channel === span.channel && isReliable(otherSpan)
    const source = isReliable(span)
      ? span
      : (spans.slice(0, i).findLast(isNear) ?? spans.slice(i).find(isNear))
    const language = source?.probabilities[0]?.language ?? voted.language
    const match = span.probabilities.find((one) => one.language === language)
    return { ...span, language, probability: match?.probability ?? 0 }
  })
  return joinSpans(decided).map(({ channel, path, segment, start, end, ...identification }) => {
    const { language, probability } = identification
    return { channel, path, segment: partOf(segment, { start, end }), language, probability }
  })
}

/**
 * Joins parts of a segment that turned out to be in one language; the longer one gives the
 * probability.
 */
function joinSpans<S extends ChannelLanguageSpan & { language: string; probability: number }>(
  spans: readonly S[],
): S[] {
  const joined: S[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last?.segment !== span.segment || last.language !== span.language) {
      joined.push(span)
      continue
    }
    const longer = span.seconds > last.seconds ? span : last
    const seconds = last.seconds + span.seconds
    joined[joined.length - 1] = { ...longer, start: last.start, end: span.end, seconds }
  }
  return joined
}

function partOf(segment: Segment, { start, end }: { start: number; end: number }): Segment {
  const pauses = (segment.pauses ?? [])
    .map((pause) => ({ start: Math.max(start, pause.start), end: Math.min(end, pause.end) }))
    .filter((pause) => pause.end > pause.start)
  return { start, end, ...(pauses.length > 0 && { pauses }) }
}

/** Plans batches channel by channel and language by language. */
function planByLanguage(
  decided: readonly LanguageDecision[],
  { languages }: LanguageIdentification,
): Batch[] {
  const channels = [...new Set(decided.map(({ channel }) => channel))]
  return channels.flatMap((channel) => {
    const ofChannel = decided.filter((decidedSpan) => decidedSpan.channel === channel)
    return languages.flatMap(({ language, finals }) => {
      const segments = ofChannel
        .filter((decidedSpan) => decidedSpan.language === language)
        .map(({ segment, probability }) => ({ ...segment, languageConfidence: probability }))
      const { path } = ofChannel[0]!
      return planBatches(segments).map((some) => ({ channel, path, segments: some, ...finals }))
    })
  })
}
