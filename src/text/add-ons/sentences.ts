import type { Transcript } from '../../transcript/transcript.ts'
import { type UtteranceView, viewUtterance } from '../../transcript/utterance-view.ts'
import { splitSentences } from '../words/sentences/sentences.ts'
import type { AddOn } from './add-on.ts'

/** The sentences of a transcript in time order, as strings or with their words. */
export const sentences: AddOn = {
  name: 'sentences',
  languages: 'all',
  compute(transcript, _params, { format }) {
    const results =
      format === 'native'
        ? nativeSentences(transcript)
        : splitSentences(transcript).map(({ text }) => text)
    return { results, isEmpty: results.length === 0 }
  },
}

/**
 * A sentence with its words: the keys of an utterance, with its text as
 * `sentence`.
 */
export type NativeSentence = { sentence: string } & Omit<UtteranceView, 'text'>

/**
 * Returns the sentences of a transcript in time order, each with its words, in the key order of
 * the API.
 */
export function nativeSentences(transcript: Transcript): NativeSentence[] {
  return splitSentences(transcript).map((sentence) => {
    const { text, start, end, words, confidence, language, channel, ...speaker } =
      viewUtterance(sentence)
    return { sentence: text, start, end, words, confidence, language, ...speaker, channel }
  })
}
