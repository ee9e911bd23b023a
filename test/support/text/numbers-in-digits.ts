import { formatNumbers } from '../../../src/text/words/numbers/format-numbers.ts'

/** Returns an English text with its numbers in digits. */
export function numbersInDigits(text: string): string {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: 1 }
  })
  const { utterances } = formatNumbers({ utterances: [{ channel: 0, language: 'en', words }] })
  return utterances[0]!.words.map((word) => word.text).join(' ')
}
