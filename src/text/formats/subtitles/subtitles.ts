import type { Utterance } from '../../../transcript/transcript.ts'
import { speakerLabelsOf, type VoiceNames } from '../speaker-labels.ts'
import {
  type Caption,
  type CaptionLimits,
  cutLabeledCaptions,
  splitCaptions,
} from './split-captions.ts'

/** A subtitle format: SubRip or WebVTT. */
export type SubtitleFormat = 'srt' | 'vtt'

/** How to write the file; lines end with `\n` by default. */
export type SubtitleOptions = { lineEnd?: '\n' | '\r\n' }

/**
 * Writes utterances as a subtitle file. If there are several speakers, or else channels, the file
 * names them: WebVTT in voice tags, SubRip before the first words of each.
 */
export function formatWithVoices(
  utterances: readonly Utterance[],
  format: SubtitleFormat,
  {
    limits = {},
    names,
    ...options
  }: SubtitleOptions & { limits?: Partial<CaptionLimits>; names?: VoiceNames } = {},
): string {
  const cut = format === 'vtt' ? splitCaptions : cutLabeledCaptions
  const captions = cut(utterances, limits, speakerLabelsOf(utterances, names))
  return formatSubtitles(captions, format, options)
}

/** Writes captions as the content of a subtitle file. No row may contain a line end. */
export function formatSubtitles(
  captions: readonly Caption[],
  format: SubtitleFormat,
  { lineEnd = '\n' }: SubtitleOptions = {},
): string {
  const text = format === 'srt' ? formatSrt(captions) : formatVtt(captions)
  return text.replaceAll('\n', lineEnd)
}

function formatSrt(captions: readonly Caption[]): string {
  return captions
    .map(({ start, end, rows }, i) => {
      const text = rows.map(replaceArrows).join('\n')
      return `${i + 1}\n${formatTimestamp(start, ',')} --> ${formatTimestamp(end, ',')}\n${text}\n`
    })
    .join('\n')
}

/**
 * Replaces arrows in a row by a single character. SubRip has no escapes, and players treat any line
 * with an arrow between two times as the start of a caption. Numbers and tags do no harm by
 * themselves.
 */
function replaceArrows(row: string): string {
  return row.replaceAll('-->', '→')
}

function formatVtt(captions: readonly Caption[]): string {
  const blocks = captions.map(({ start, end, rows, voice }) => {
    const tag = voice === undefined ? '' : `<v ${escapeVtt(voice)}>`
    const text = rows.map(escapeVtt).join('\n')
    return `${formatTimestamp(start, '.')} --> ${formatTimestamp(end, '.')}\n${tag}${text}\n`
  })
  return ['WEBVTT\n', ...blocks].join('\n')
}

/**
 * Escapes a row. In WebVTT `&` opens an entity and `<` a tag; `>` is escaped so that no row can
 * contain the arrow `-->`.
 */
function escapeVtt(row: string): string {
  return row.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * Formats `HH:MM:SS,mmm`, with more digits from 100 hours. Rounds once, so that 59.9996 s becomes a
 * whole minute.
 */
function formatTimestamp(seconds: number, mark: ',' | '.'): string {
  const ms = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const hours = two(ms / 3_600_000)
  const minutes = two((ms / 60_000) % 60)
  const secondsText = two((ms / 1000) % 60)
  return `${hours}:${minutes}:${secondsText}${mark}${String(ms % 1000).padStart(3, '0')}`
}
