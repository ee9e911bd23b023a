import type { Word } from '../../../transcript/transcript.ts'
import { dropRepeatedPhrases } from '../../recognition/word-times/implausible-words.ts'
import { interpolateWordTimes, locateWords, type TimedText } from './word-times.ts'

/** What a server recognized in one segment of audio. */
export type RemoteResponse = {
  /** Times in seconds from the start of the audio; in order, apart, inside it. */
  words: Word[]
  /** As the server names it; undefined when it does not. */
  language: string | undefined
  languageProbability: number | undefined
  /** Whether the server measured word times; undefined when there is no word. */
  hasWordTimes: boolean | undefined
}

/** The confidence of words if the server states none. */
const DEFAULT_CONFIDENCE = 0.8
/**
 * A segment above this no-speech probability and below this log probability is invented
 * (openai/whisper).
 */
const MAX_NO_SPEECH_PROBABILITY = 0.6
const MIN_LOG_PROBABILITY = -1
/** More words than this per second come from a loop of the model: people do not speak so fast. */
const MAX_WORDS_PER_SECOND = 25

type Fields = Record<string, unknown>
type ResponseSegment = TimedText & { confidence: number; isInvented: boolean; words: TimedWord[] }
type TimedWord = TimedText & { confidence: number | undefined }

/**
 * Reads a response in the forms `verbose_json` and `json`, with words, with segments, or with a
 * text alone. `seconds` is the length of the audio. Returns undefined for any other form.
 */
export function parseProviderResponse(body: string, seconds: number): RemoteResponse | undefined {
  const response = parseObject(body)
  if (!response || typeof response.text !== 'string') return undefined
  const segments = readSegments(response.segments, seconds)
  const listed = readWords(response.words)
  const timed = listed.length > 0 ? listed : segments.flatMap(({ words }) => words)
  const spoken = segments.filter(({ isInvented }) => !isInvented)
  const text = segments.length > 0 ? spoken.map((segment) => segment.text).join(' ') : response.text
  const count = Math.max(timed.length, segments.length, text.split(/\s+/).length)
  const isLoop = count > 10 + MAX_WORDS_PER_SECOND * seconds
  const hasText = /[\p{L}\p{N}]/u.test(text)
  const within = isLoop ? [] : timed.filter((word) => !isInInvented(word, segments))
  return {
    words: hasText && !isLoop ? placeAll(within, { spoken, text, seconds }) : [],
    language: typeof response.language === 'string' ? response.language : undefined,
    languageProbability: probabilityOf(response.language_probability),
    hasWordTimes: hasText && !isLoop ? within.length > 0 : undefined,
  }
}

/** Places words by their own times, or else by those of the segments. */
function placeAll(
  timed: readonly TimedWord[],
  { spoken, text, seconds }: { spoken: readonly ResponseSegment[]; text: string; seconds: number },
): Word[] {
  const wholeText = { text, start: 0, end: seconds }
  const segments = spoken.length > 0 ? spoken : [wholeText]
  const spread =
    timed.length > 0 ? [] : segments.flatMap((segment) => interpolateWordTimes(segment, seconds))
  // Segments that overlap, as those without times do, are placed like words out of order.
  const isInOrder = spread.every(({ start }, i) => start >= (spread[i - 1]?.end ?? 0))
  const rough =
    timed.length > 0
      ? locateWords(timed, { text, seconds })
      : isInOrder
        ? spread
        : locateWords(spread, { text: '', seconds })
  const words = rough.map((word, i) => {
    const segment = spoken.find((candidate) => isInside(word, candidate))
    const confidence = timed[i]?.confidence ?? segment?.confidence ?? DEFAULT_CONFIDENCE
    return { ...word, confidence }
  })
  return dropRepeatedPhrases(words.filter(hasLetters))
}

function isInInvented(word: TimedText, segments: readonly ResponseSegment[]): boolean {
  return segments.some((segment) => segment.isInvented && isInside(word, segment))
}

function parseObject(body: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(body))
  } catch {
    return undefined
  }
}

function readSegments(value: unknown, seconds: number): ResponseSegment[] {
  return itemsOf(value).flatMap((fields) => {
    const {
      text,
      start,
      end,
      avg_logprob: logProbability,
      no_speech_prob: noSpeech,
      words,
    } = fields
    if (typeof text !== 'string') return []
    const hasLogProbability = typeof logProbability === 'number' && Number.isFinite(logProbability)
    const [from, to] = [numberOf(start) ?? 0, numberOf(end) ?? seconds]
    const isInvented =
      (numberOf(noSpeech) ?? 0) > MAX_NO_SPEECH_PROBABILITY &&
      hasLogProbability &&
      logProbability < MIN_LOG_PROBABILITY
    return {
      text: text.trim(),
      start: Math.min(Math.max(0, from), seconds),
      end: Math.min(Math.max(0, from, to), seconds),
      confidence: hasLogProbability ? Math.min(1, Math.exp(logProbability)) : DEFAULT_CONFIDENCE,
      isInvented,
      words: readWords(words),
    }
  })
}

function readWords(value: unknown): TimedWord[] {
  return itemsOf(value).flatMap(({ word, text = word, start, end, probability, confidence }) => {
    if (typeof text !== 'string' || text.trim() === '') return []
    const times = { start: numberOf(start) ?? Number.NaN, end: numberOf(end) ?? Number.NaN }
    return { text: text.trim(), ...times, confidence: probabilityOf(probability ?? confidence) }
  })
}

function itemsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.flatMap<Fields>((item: unknown) => fieldsOf(item) ?? []) : []
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function probabilityOf(value: unknown): number | undefined {
  const number = numberOf(value)
  return number === undefined ? undefined : Math.min(1, Math.max(0, number))
}

function isInside({ start, end }: TimedText, segment: TimedText): boolean {
  const middle = (start + end) / 2
  return middle >= segment.start && middle <= segment.end
}

function hasLetters({ text }: Word): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}
