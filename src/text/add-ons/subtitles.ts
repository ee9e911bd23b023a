import type { Transcript } from '../../transcript/transcript.ts'
import {
  type CaptionLimits,
  DEFAULT_LIMITS,
  splitCaptions,
} from '../formats/subtitles/split-captions.ts'
import {
  formatSubtitles,
  formatWithVoices,
  type SubtitleFormat,
} from '../formats/subtitles/subtitles.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'

/** The fields of `subtitles_config`. Durations are seconds. */
export type SubtitlesConfig = {
  formats?: readonly SubtitleFormat[]
  minimum_duration?: number
  maximum_duration?: number
  maximum_characters_per_row?: number
  maximum_rows_per_caption?: number
  style?: 'default' | 'compliance'
  /**
   * An extension of the API: whether captions name the speakers, or else the channels, if there are
   * several.
   */
  speakers?: boolean
}

/**
 * Limit of all files. A day of speech has a third of this, but captions of one letter each would
 * have a hundred times the length of the transcript.
 */
const MAX_CHARACTERS = 16_000_000
/** The longest row of the style `compliance`. */
const MAX_COMPLIANT_COLUMNS = 42

/** One subtitle file in the form of the API. */
export type Subtitle = { format: SubtitleFormat; subtitles: string }

/**
 * Writes a transcript as one subtitle file for each of `formats`, in their order.
 * The style `compliance` overrides other settings: at most two rows of 42 characters (a longer word
 * is split), 0.08 s between captions, 0.833 s each where the next allows, and lines that end with
 * `\r\n`.
 */
export function subtitles(
  { utterances, duration = Number.POSITIVE_INFINITY }: Transcript,
  config: SubtitlesConfig = {},
): Subtitle[] {
  const limits = { ...captionLimitsOf(config), recordingEnd: duration }
  const captions = config.speakers ? [] : splitCaptions(utterances, limits)
  const formats = (config.formats ?? ['srt']).filter((format, i, all) => all.indexOf(format) === i)
  const lineEnd = config.style === 'compliance' ? '\r\n' : '\n'
  let length = 0
  return formats.map((format) => {
    const file = config.speakers
      ? formatWithVoices(utterances, format, { limits, lineEnd })
      : formatSubtitles(captions, format, { lineEnd })
    length += file.length
    if (length > MAX_CHARACTERS) throw tooLong()
    return { format, subtitles: file }
  })
}

function tooLong(): AddOnFailedError {
  return new AddOnFailedError({
    status_code: 422,
    exception: 'ResultTooLarge',
    message: `subtitles would have more than ${MAX_CHARACTERS} characters: raise maximum_characters_per_row`,
  })
}

function captionLimitsOf(config: SubtitlesConfig): CaptionLimits {
  const requested: CaptionLimits = {
    ...DEFAULT_LIMITS,
    minDuration: config.minimum_duration ?? DEFAULT_LIMITS.minDuration,
    maxDuration: config.maximum_duration ?? DEFAULT_LIMITS.maxDuration,
    maxCharactersPerRow: config.maximum_characters_per_row ?? DEFAULT_LIMITS.maxCharactersPerRow,
    maxRows: config.maximum_rows_per_caption ?? DEFAULT_LIMITS.maxRows,
  }
  if (config.style !== 'compliance') return requested
  return {
    ...requested,
    minDuration: Math.max(0.833, requested.minDuration),
    maxCharactersPerRow: Math.min(MAX_COMPLIANT_COLUMNS, requested.maxCharactersPerRow),
    maxRows: Math.min(2, requested.maxRows),
    minGap: 0.08,
    maxWordColumns: MAX_COMPLIANT_COLUMNS,
  }
}
