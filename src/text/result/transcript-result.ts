import { roundTo } from '../../transcript/rounding.ts'
import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import { type UtteranceView, viewUtterance } from '../../transcript/utterance-view.ts'
import type { AddOnError, ResultFormat } from './steps/envelope.ts'
import type { ServiceResponses } from './steps/run-service-add-on.ts'

/** The content of a result besides the transcript. */
export type TranscriptResultOptions = {
  /** Seconds. */
  audioDuration: number
  /** The number of channels with distinct audio. */
  distinctChannels: number
  /** Whether several channels were recognized as one; undefined for sessions. */
  channelMode?: 'mix' | 'separate'
  /** Seconds of work. */
  transcriptionTime: number
  params: Record<string, unknown>
  /** The format of sentiments and sentences; text by default. */
  format?: ResultFormat
  /** Why there are no speakers, although diarization was requested. */
  diarizationError?: AddOnError | undefined
  /** The seconds that diarization took. */
  diarizationSeconds?: number | undefined
  /** Warnings for the user: what was left out, and why. */
  warnings?: readonly string[]
  /** The add-ons for which services can be called; see `servedAddOns`. */
  served?: readonly string[]
  /** The responses to requests that the same build returned before. */
  serviceResponses?: ServiceResponses | undefined
}

/** Builds the transcript part of the API's result, without any add-ons. */
export function buildTranscriptResult(transcript: Transcript, options: TranscriptResultOptions) {
  const { audioDuration, distinctChannels, channelMode, transcriptionTime, warnings = [] } = options
  const seconds = roundTo(audioDuration, 6)
  const withWords = transcript.utterances.filter(({ words }) => words.length > 0)
  const utterances = withWords
    .map(viewUtterance)
    .sort((a, b) => a.start - b.start || a.channel - b.channel)
  return {
    metadata: {
      audio_duration: seconds,
      number_of_distinct_channels: distinctChannels,
      billing_time: roundTo(seconds * distinctChannels, 6),
      transcription_time: roundTo(transcriptionTime, 6),
      ...(channelMode && { channel_mode: channelMode }),
      warnings,
    },
    transcription: {
      full_transcript: utterances.map(({ text }) => text.trim()).join(' '),
      languages: languagesBySpeech(utterances),
      utterances,
    },
  }
}

/**
 * Returns the transcript as a result contains it: words without spaces between them, and rounded
 * times.
 */
export function transcriptOf(utterances: readonly UtteranceView[]): Transcript {
  return { utterances: utterances.map(fromUtterance) }
}

function fromUtterance(view: UtteranceView): Utterance {
  const { channel, language, words, speaker, speaker_confidence: speakerConfidence } = view
  const space = separatorOf(language)
  return {
    channel,
    language,
    ...(speaker === undefined ? {} : { speaker }),
    ...(speakerConfidence === undefined ? {} : { speakerConfidence }),
    words: words.map(({ word, ...times }, i) => {
      return { text: i === 0 ? word : word.slice(space.length), ...times }
    }),
  }
}

/** Returns the languages of utterances, most spoken first; at equal length, first spoken first. */
export function languagesBySpeech(
  utterances: readonly { language: string; start: number; end: number }[],
): string[] {
  const seconds = new Map<string, number>()
  for (const { language, start, end } of utterances) {
    seconds.set(language, (seconds.get(language) ?? 0) + end - start)
  }
  return [...seconds].sort(([, a], [, b]) => b - a).map(([language]) => language)
}
