import { cutCaptions } from '../text/formats/captions.ts'
import { formatSubtitles } from '../text/formats/subtitles.ts'
import type { Utterance } from '../transcript/transcript.ts'
import type { ServedResult, ServedUtterance } from './served.ts'

/** What `--format` takes. */
export const formats = ['txt', 'json', 'srt', 'vtt'] as const
/** One of them. */
export type Format = (typeof formats)[number]

/** Writes a result in one of the formats, with a line end after the last line. */
export function formatResult(result: ServedResult, format: Format): string {
  if (format === 'json') return `${JSON.stringify(result, undefined, 2)}\n`
  const { utterances } = result.transcription
  if (format === 'txt') return formatText(utterances)
  return formatSubtitles(cutCaptions(utterances.map(toUtterance)), format)
}

/** One utterance per line; the channel stands before it where there are several. */
function formatText(utterances: readonly ServedUtterance[]): string {
  const several = new Set(utterances.map((utterance) => utterance.channel)).size > 1
  return utterances
    .map(({ channel, text }) => `${several ? `channel ${channel}: ` : ''}${text.trim()}\n`)
    .join('')
}

function toUtterance({ channel, language, words }: ServedUtterance): Utterance {
  return {
    channel,
    language,
    words: words.map(({ word, start, end, confidence }) => {
      return { text: word.trim(), start, end, confidence }
    }),
  }
}
