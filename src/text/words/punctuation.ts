import type { Transcript } from '../../transcript/transcript.ts'
import { abbreviationOf } from './abbreviations.ts'
import { capitalize, namesAmong, writeEnglish } from './letter-case.ts'
import { tidyPunctuation } from './punctuation-marks.ts'
import { asksInEnglish } from './questions.ts'
import { cutSentences, type Sentence } from './sentences.ts'
import { partsOf } from './word-parts.ts'

/**
 * A transcript that reads better: sentences begin with a capital, marks are in order, and in English I, days,
 * months and the names of this recording have capitals and questions their mark. Only case and marks change:
 * words, times and confidence stay. Applied again it changes nothing.
 */
export function enhancePunctuation(transcript: Transcript): Transcript {
  const written = tidy(transcript)
  // A new capital may show where a sentence begins, and that where another belongs: hence until nothing
  // changes. It ends, for letters only ever become capitals.
  while (writeCapitals(written)) {}
  for (const sentence of cutSentences(written)) ask(sentence)
  return written
}

/** A copy whose words the rest of this file may change: each stands in one sentence. */
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

/** Puts the capitals that its sentences, as they are cut now, ask for; tells whether any was missing. */
function writeCapitals(transcript: Transcript): boolean {
  const before = textsOf(transcript)
  const sentences = cutSentences(transcript)
  const english = sentences.filter(({ language }) => language === 'en')
  const names = namesAmong(english.flatMap(({ words }) => words.slice(1)).map(({ text }) => text))
  for (const sentence of english) writeSentence(sentence, names)
  for (const sentence of sentences) open(sentence)
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

function open({ words, opens, language }: Sentence): void {
  const first = words.find(({ text }) => partsOf(text).core !== '')
  if (opens && first) first.text = capitalize(first.text, language)
}

/** The mark of a question in the place of a full stop; one that belongs to a short form (Inc.) stays. */
function ask({ words, opens, text, language }: Sentence): void {
  const last = words.at(-1)!
  if (language !== 'en' || !opens || !/[\p{L}\p{N}]\.$/u.test(last.text)) return
  if (abbreviationOf(partsOf(last.text).core, language)) return
  if (asksInEnglish(text.slice(0, -1))) last.text = `${last.text.slice(0, -1)}?`
}
