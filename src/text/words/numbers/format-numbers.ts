import type { Transcript, Utterance } from '../../../transcript/transcript.ts'
import { numbersToDigits } from './numbers-to-digits.ts'
import { numbersToWords } from './numbers-to-words.ts'

/** The languages whose numbers have a style. */
export const languages = ['en'] as const

/** The field `number_formatting_config`. */
export type NumberFormattingConfig = { style?: 'digits' | 'words' }

/**
 * Writes the numbers of a transcript in one style: as digits (the default) or as words. A number of
 * several words becomes one word, from the start of the first to the end of the last, with their
 * mean confidence. One that becomes several words divides its time among them by length.
 */
export function formatNumbers(
  { utterances, ...rest }: Transcript,
  { style = 'digits' }: NumberFormattingConfig = {},
): Transcript {
  const format = style === 'digits' ? numbersToDigits : numbersToWords
  const formatted = utterances.map((utterance): Utterance => {
    if (!languages.some((language) => language === utterance.language)) return utterance
    return { ...utterance, words: format(utterance.words) }
  })
  return { ...rest, utterances: formatted }
}
