import type { StoredResult } from '../result/stored-result.ts'
import { splitWords } from './search-words.ts'
import { loadToTerm } from './stemmers.ts'

/** An utterance as it is indexed. Times are in seconds. */
export type SearchableUtterance = {
  start: number
  end: number
  channel: number
  speaker: number | null
  language: string
  text: string
  /** One for each word of the text, in order. */
  terms: string[]
}

/** Returns the utterances of a stored result; what redaction removed is not among their words. */
export async function searchableUtterances(result: string): Promise<SearchableUtterance[]> {
  const { transcription } = JSON.parse(result) as StoredResult
  const searchable: SearchableUtterance[] = []
  for (const { start, end, channel, speaker, language, text } of transcription.utterances) {
    const toTerm = await loadToTerm(language)
    const terms = splitWords(text).map(({ text }) => toTerm(text))
    const place = { start, end, channel, speaker: speaker ?? null, language }
    if (terms.length > 0) searchable.push({ ...place, text: text.trim(), terms })
  }
  return searchable
}
