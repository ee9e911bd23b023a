import type { Envelope } from './result/envelope.ts'

const NAME = 'subtitles: '

/** What a result warns of when subtitles failed: they have no envelope that could say so. */
export function subtitlesWarnings(envelope: Envelope | undefined): string[] {
  return envelope?.error ? [NAME + envelope.error.message] : []
}

/** The warnings of a result in which subtitles were made again. */
export function renewWarnings(warnings: readonly string[], envelope: Envelope): string[] {
  const others = warnings.filter((warning) => !warning.startsWith(NAME))
  return [...others, ...subtitlesWarnings(envelope)]
}
