import { deflateSync } from 'node:zlib'
import { mean } from '../../numbers.ts'
import { logprobOf, toLogprobs } from '../../transcript/logprobs.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'

/** What the response of a transcription holds, in the form of OpenAI's API. */
export type OpenAiFormat = {
  shape: 'text' | 'json' | 'verbose_json' | 'diarized_json'
  task: 'transcribe' | 'translate'
  /** Whether `verbose_json` contains the words, in addition to the segments. */
  words: boolean
  segments: boolean
  /** Whether `json` contains the logarithm of each word's confidence. */
  logprobs: boolean
  /** Whether the response is server-sent events. */
  stream: boolean
}

/** The utterances of a result, and the length of its recording in seconds. */
export type OpenAiTranscript = {
  utterances: readonly UtteranceView[]
  languages: readonly string[]
  duration: number
}

const languageNames = new Intl.DisplayNames(['en'], { type: 'language' })

/** Writes a transcript as a response of OpenAI's transcription API: JSON, text or events. */
export function writeOpenAi(transcript: OpenAiTranscript, format: OpenAiFormat): string {
  if (format.stream) return writeEvents(transcript, format)
  if (format.shape === 'text') return `${fullText(transcript.utterances)}\n`
  return JSON.stringify(responseOf(transcript, format))
}

function responseOf(transcript: OpenAiTranscript, format: OpenAiFormat): object {
  const { utterances, duration } = transcript
  const text = fullText(utterances)
  const usage = { type: 'duration', seconds: Math.ceil(duration) }
  switch (format.shape) {
    case 'verbose_json':
      return {
        task: format.task,
        language: openAiLanguageName(transcript.languages[0] ?? 'en'),
        duration,
        text,
        ...(format.words && { words: allWords(utterances).map(toWord) }),
        ...(format.segments && { segments: utterances.map(toSegment) }),
        usage,
      }
    case 'diarized_json':
      return { task: format.task, duration, text, segments: toTurns(utterances), usage }
    default:
      return {
        text,
        ...languagesOf(transcript, format),
        ...(format.logprobs && { logprobs: toLogprobs(utterances) }),
        usage,
      }
  }
}

/** The languages of the speech, which a translation does not have. */
function languagesOf({ languages }: OpenAiTranscript, { task }: OpenAiFormat) {
  return task === 'transcribe' ? { languages: languages.map((code) => ({ code })) } : {}
}

/** One event per utterance, then one with the whole text. */
function writeEvents(transcript: OpenAiTranscript, format: OpenAiFormat): string {
  const { utterances, duration } = transcript
  const usage = { type: 'duration', seconds: Math.ceil(duration) }
  const isDiarized = format.shape === 'diarized_json'
  const logprobsOf = (some: readonly UtteranceView[], continues = false) => {
    return format.logprobs ? { logprobs: toLogprobs(some, { continues }) } : {}
  }
  const parts = isDiarized
    ? toTurns(utterances)
    : utterances.map((utterance, i) => ({
        type: 'transcript.text.delta',
        delta: `${i > 0 ? ' ' : ''}${utterance.text.trim()}`,
        ...logprobsOf([utterance], i > 0),
      }))
  const text = fullText(utterances)
  const languages = languagesOf(transcript, format)
  const done = {
    type: 'transcript.text.done',
    text,
    ...languages,
    ...logprobsOf(utterances),
    usage,
  }
  return [...parts, done].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}

/** Returns the words in the order of their starts: utterances of several channels may overlap. */
function allWords(utterances: readonly UtteranceView[]) {
  return utterances.flatMap(({ words }) => words).sort((a, b) => a.start - b.start)
}

function fullText(utterances: readonly UtteranceView[]): string {
  return utterances.map(({ text }) => text.trim()).join(' ')
}

function openAiLanguageName(code: string): string {
  try {
    return (languageNames.of(code) ?? code).toLowerCase()
  } catch {
    return code
  }
}

function toWord({ word, start, end }: UtteranceView['words'][number]) {
  return { word: word.trim(), start, end }
}

/**
 * The model does not provide `tokens` and `no_speech_prob`, so they have the values of certain
 * speech.
 */
function toSegment({ text, start, end, words }: UtteranceView, id: number) {
  const trimmed = text.trim()
  return {
    id,
    seek: Math.round(start * 100),
    start,
    end,
    text: ` ${trimmed}`,
    tokens: [],
    temperature: 0,
    avg_logprob: roundTo(mean(words.map(logprobOf)), 4),
    compression_ratio: roundTo(Buffer.byteLength(trimmed) / deflateSync(trimmed).byteLength, 3),
    no_speech_prob: 0,
  }
}

function toTurns(utterances: readonly UtteranceView[]) {
  return utterances.map(({ text, start, end, speaker = 0 }, i) => ({
    type: 'transcript.text.segment',
    id: `seg_${i}`,
    start,
    end,
    text: text.trim(),
    speaker: speakerName(speaker),
  }))
}

/** A, B, … Z, AA, AB, … */
function speakerName(speaker: number): string {
  const last = String.fromCharCode(65 + (speaker % 26))
  return speaker < 26 ? last : speakerName(Math.floor(speaker / 26) - 1) + last
}
