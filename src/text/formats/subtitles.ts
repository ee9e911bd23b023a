import type { Caption } from './captions.ts'

/** SubRip or WebVTT. */
export type SubtitleFormat = 'srt' | 'vtt'

/** Writes captions as the content of a subtitle file. */
export function formatSubtitles(captions: readonly Caption[], format: SubtitleFormat): string {
  return format === 'srt' ? formatSrt(captions) : formatVtt(captions)
}

function formatSrt(captions: readonly Caption[]): string {
  return captions
    .map(({ start, end, rows }, i) => {
      return `${i + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${rows.join('\n')}\n`
    })
    .join('\n')
}

function formatVtt(captions: readonly Caption[]): string {
  const blocks = captions.map(({ start, end, rows }) => {
    return `${clock(start, '.')} --> ${clock(end, '.')}\n${rows.map(escapeVtt).join('\n')}\n`
  })
  return ['WEBVTT\n', ...blocks].join('\n')
}

/** In WebVTT `&` opens an entity and `<` a tag; `>` is escaped so that no row can hold the arrow `-->`. */
function escapeVtt(row: string): string {
  return row.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** `HH:MM:SS,mmm`, rounded once so that 59.9996 s becomes a whole minute. */
function clock(seconds: number, mark: ',' | '.'): string {
  const ms = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const hours = two(ms / 3_600_000)
  const minutes = two((ms / 60_000) % 60)
  const rest = two((ms / 1000) % 60)
  return `${hours}:${minutes}:${rest}${mark}${String(ms % 1000).padStart(3, '0')}`
}
