import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { splitSentences } from '../words/sentences/sentences.ts'
import { classifySentiment, type Sentiment } from './sentiment/classify-sentiment.ts'

/** The sentiment of one sentence. Times are seconds. */
export type SentenceSentiment = Sentiment & {
  text: string
  start: number
  end: number
  channel: number
  speaker?: number
}

/** The languages of the lexicon. */
export const languages: readonly string[] = ['en']

/**
 * Rates each sentence of an English transcript, in time order. Sentences in other languages are
 * `unknown`.
 */
export function sentiment(transcript: Transcript): SentenceSentiment[] {
  return splitSentences(transcript).map(({ text, start, end, language, channel, speaker }) => {
    const rated: Sentiment = languages.includes(language)
      ? classifySentiment(text)
      : { sentiment: 'unknown', emotion: 'neutral' }
    return {
      text,
      ...rated,
      start: roundTo(start, 3),
      end: roundTo(end, 3),
      channel,
      ...(speaker === undefined ? {} : { speaker }),
    }
  })
}
