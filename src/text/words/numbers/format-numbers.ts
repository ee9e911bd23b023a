import type { Transcript, Utterance, Word } from '../../../transcript/transcript.ts'
import { codeWordsOf } from './codes.ts'
import { numbersToDigits } from './numbers-to-digits.ts'
import { numbersToWords } from './numbers-to-words.ts'

/** The languages whose numbers have a style. */
export const languages = ['en'] as const

/** The field `number_formatting_config`. */
export type NumberFormattingConfig = { style?: 'digits' | 'words' }

/**
 * Writes the numbers of a transcript in one style: as digits (the default) or as words. A number of
 * several words becomes one word, from the start of the first to the end of the last, with their
 * mean confidence. One that becomes several words divides its time among them by length. Digits
 * that are a name or a code stay digits.
 */
export function formatNumbers(
  transcript: Transcript,
  { style = 'digits' }: NumberFormattingConfig = {},
): Transcript {
  const codes = style === 'digits' ? undefined : codeWordsOf(transcript)
  const format = codes ? (words: Word[]) => numbersToWords(words, codes) : numbersToDigits
  const formatted = transcript.utterances.map((utterance): Utterance => {
    if (!languages.some((language) => language === utterance.language)) return utterance
    return { ...utterance, words: format(utterance.words) }
  })
  return { ...transcript, utterances: formatted }
}
