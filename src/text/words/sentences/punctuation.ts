import type { Transcript } from '../../../transcript/transcript.ts'
import { capitalize, capitalizeWithinSentence, findNames } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf } from './abbreviations.ts'
import { tidyPunctuation } from './punctuation-marks.ts'
import { asksInEnglish } from './questions.ts'
import { type Sentence, splitSentences } from './sentences.ts'

/**
 * Returns a transcript that is easier to read: sentences begin with a capital and punctuation is
 * tidy. In English, the pronoun I, days, months and the names in the recording get capitals, and
 * questions get a question mark. Only case and punctuation change: words, times and confidence
 * stay. A second run changes nothing.
 */
export function enhancePunctuation(transcript: Transcript): Transcript {
  const result = copyTidied(transcript)
  // A new capital may reveal the beginning of a sentence, and with it the place of another capital,
  // so this repeats until nothing changes. It ends because letters only ever become capitals.
  while (capitalizeSentences(result)) {}
  for (const sentence of splitSentences(result)) addQuestionMark(sentence)
  return result
}

/** Copies the words, with tidy punctuation: the other functions of this file change the copies. */
function copyTidied({ utterances }: Transcript): Transcript {
  return {
    utterances: utterances.map((utterance) => {
      const words = utterance.words.map((word) => {
        return { ...word, text: tidyPunctuation(word.text, utterance.language) }
      })
      return { ...utterance, words }
    }),
  }
}

/** Adds the capitals that the current sentences need; returns whether any was missing. */
function capitalizeSentences(transcript: Transcript): boolean {
  const before = textsOf(transcript)
  const sentences = splitSentences(transcript)
  const english = sentences.filter(({ language }) => language === 'en')
  const names = findNames(english.flatMap(({ words }) => words.slice(1)).map(({ text }) => text))
  for (const sentence of english) capitalizeEnglish(sentence, names)
  for (const sentence of sentences) capitalizeFirstWord(sentence)
  return textsOf(transcript) !== before
}

function textsOf({ utterances }: Transcript): string {
  return utterances.flatMap(({ words }) => words.map(({ text }) => text)).join(' ')
}

function capitalizeEnglish({ words }: Sentence, names: ReadonlyMap<string, string>): void {
  for (const [i, word] of words.entries()) {
    const before = words[i - 1]?.text ?? ''
    const after = words[i + 1]?.text ?? ''
    word.text = capitalizeWithinSentence(word.text, { before, after, names })
  }
}

function capitalizeFirstWord({ words, startsSentence, language }: Sentence): void {
  const first = words.find(({ text }) => wordPartsOf(text).core !== '')
  if (startsSentence && first) first.text = capitalize(first.text, language)
}

/**
 * Replaces the full stop of a question by a question mark, unless it belongs to an abbreviation
 * (Inc.).
 */
function addQuestionMark({ words, startsSentence, text, language }: Sentence): void {
  const last = words.at(-1)!
  if (language !== 'en' || !startsSentence || !/[\p{L}\p{N}]\.$/u.test(last.text)) return
  if (abbreviationOf(wordPartsOf(last.text).core, language)) return
  if (asksInEnglish(text.slice(0, -1))) last.text = `${last.text.slice(0, -1)}?`
}
