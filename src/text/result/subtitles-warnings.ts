import type { Envelope } from './steps/envelope.ts'

const NAME = 'subtitles: '

/**
 * Returns the warnings about failed subtitles, which have no envelope that could report the
 * failure.
 */
export function subtitlesWarnings(envelope: Envelope | undefined): string[] {
  return envelope?.error ? [NAME + envelope.error.message] : []
}

/** Returns the warnings of a result after a retry of its subtitles. */
export function renewWarnings(warnings: readonly string[], envelope: Envelope): string[] {
  const otherWarnings = warnings.filter((warning) => !warning.startsWith(NAME))
  return [...otherWarnings, ...subtitlesWarnings(envelope)]
}
