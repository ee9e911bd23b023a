import type { Transcript } from '../../../transcript/transcript.ts'
import { capitalize, namesAmong, writeEnglish } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf } from './abbreviations.ts'
import { tidyPunctuation } from './punctuation-marks.ts'
import { asksInEnglish } from './questions.ts'
import { type Sentence, splitSentences } from './sentences.ts'

/**
 * Returns a transcript that is easier to read: sentences begin with a capital, punctuation is tidy,
 * and in English I, days, months and the names of this recording get capitals and questions their
 * mark. Only case and punctuation change: words, times and confidence stay. A second run changes
 * nothing.
 */
export function enhancePunctuation(transcript: Transcript): Transcript {
  const written = tidy(transcript)
  // A new capital may show where a sentence begins, and that where another one belongs, so this
  // repeats until nothing changes. It ends because letters only ever become capitals.
  while (writeCapitals(written)) {}
  for (const sentence of splitSentences(written)) addQuestionMark(sentence)
  return written
}

/** Copies the words, which the rest of this file may then change. Each is in one sentence. */
function tidy({ utterances }: Transcript): Transcript {
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
function writeCapitals(transcript: Transcript): boolean {
  const before = textsOf(transcript)
  const sentences = splitSentences(transcript)
  const english = sentences.filter(({ language }) => language === 'en')
  const names = namesAmong(english.flatMap(({ words }) => words.slice(1)).map(({ text }) => text))
  for (const sentence of english) writeSentence(sentence, names)
  for (const sentence of sentences) capitalizeFirstWord(sentence)
  return textsOf(transcript) !== before
}

function textsOf({ utterances }: Transcript): string {
  return utterances.flatMap(({ words }) => words.map(({ text }) => text)).join(' ')
}

function writeSentence({ words }: Sentence, names: ReadonlyMap<string, string>): void {
  for (const [i, word] of words.entries()) {
    const before = words[i - 1]?.text ?? ''
    const after = words[i + 1]?.text ?? ''
    word.text = writeEnglish(word.text, { before, after, names })
  }
}

function capitalizeFirstWord({ words, opens, language }: Sentence): void {
  const first = words.find(({ text }) => wordPartsOf(text).core !== '')
  if (opens && first) first.text = capitalize(first.text, language)
}

/**
 * Replaces the full stop of a question by its mark, except one that belongs to an abbreviation
 * (Inc.).
 */
function addQuestionMark({ words, opens, text, language }: Sentence): void {
  const last = words.at(-1)!
  if (language !== 'en' || !opens || !/[\p{L}\p{N}]\.$/u.test(last.text)) return
  if (abbreviationOf(wordPartsOf(last.text).core, language)) return
  if (asksInEnglish(text.slice(0, -1))) last.text = `${last.text.slice(0, -1)}?`
}
