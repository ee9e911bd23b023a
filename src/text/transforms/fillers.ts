import type { Transcript, Utterance, Word } from '../../transcript/transcript.ts'
import { capitalize } from '../words/letter-case.ts'
import { isFilledPause } from '../words/sentences/clause-continuation.ts'
import { foldWord, wordPartsOf } from '../words/word-parts.ts'

/** The languages with known filled pauses. In other languages, the same letters may be a word. */
export const languages = ['en'] as const

const MARK = /[.!?…]+(?=["”’')\]]*$)/
const OPENING = /^["“‘'([]+/
const CLOSING = /["”’')\]]+$/

/** Words that belong to the next word: a comma after one only marked the pause. */
const JOINED_TO_NEXT = new Set(
  (
    'the a an my your his her our their its i he she we they and or but because if that to of at for from with ' +
    'into as than is are was were be been have has had will would can could should'
  ).split(' '),
)
const CONTRACTION = /^(?:i|you|he|she|it|we|they|that|there)['’](?:m|re|s|ve|ll|d)$/

/**
 * Removes filled pauses (um, uh, hmm). Punctuation that ended a sentence or a quotation moves to
 * the word before, an opening quotation mark to the word after. That word gets a capital if the
 * pause began a sentence. A comma that only the pause needed is removed: "I was, um, born". An
 * utterance of only filled pauses is removed; then the speakers are numbered again by their first
 * appearance.
 */
export function removeFillers({ utterances, ...rest }: Transcript): Transcript {
  const keptUtterances = utterances.map((utterance) => {
    const { words, language } = utterance
    const isKnown = languages.some((listedLanguage) => listedLanguage === language)
    return isKnown ? { ...utterance, words: withoutFillers(words) } : utterance
  })
  return { ...rest, utterances: numberAnew(keptUtterances.filter(({ words }) => words.length > 0)) }
}

function numberAnew(utterances: readonly Utterance[]): Utterance[] {
  const startOf = ({ words }: Utterance) => words[0]!.start
  const ordered = utterances.toSorted((a, b) => startOf(a) - startOf(b) || a.channel - b.channel)
  const speakers = [...new Set(ordered.map(({ speaker }) => speaker))].filter(isNumber)
  const numbers = new Map(speakers.map((speaker, number) => [speaker, number]))
  return utterances.map((utterance) => {
    const { speaker } = utterance
    return speaker === undefined ? utterance : { ...utterance, speaker: numbers.get(speaker)! }
  })
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined
}

function withoutFillers(words: readonly Word[]): Word[] {
  const keptWords: Word[] = []
  let beginsSentence = false
  let opening = ''
  for (const [at, word] of words.entries()) {
    const last = keptWords.at(-1)
    const ended = last === undefined || MARK.test(last.text)
    if (isFilledPause(words, at)) {
      const quotes = OPENING.exec(word.text)?.[0] ?? ''
      const closing = CLOSING.exec(word.text)?.[0] ?? ''
      const isQuoted = quotes !== '' && closing !== ''
      beginsSentence ||= ended || (quotes !== '' && !isQuoted)
      const mark = MARK.exec(word.text)?.[0]
      if (mark && last && !ended) last.text = last.text.replace(/,$/, '') + mark
      else if (last && belongsToNextWord(keptWords, words.slice(at + 1, at + 3)))
        last.text = last.text.slice(0, -1)
      if (!isQuoted) {
        opening += quotes
        if (last) last.text += closing
      }
    } else {
      const text = beginsSentence ? capitalize(word.text, 'en') : word.text
      keptWords.push({ ...word, text: opening + text })
      beginsSentence = false
      opening = ''
    }
  }
  return keptWords
}

/**
 * Returns whether the last word belongs to the next one. A repetition keeps its comma, also one of
 * two words: "we're, we're here", "I was, I was there".
 */
function belongsToNextWord(before: readonly Word[], next: readonly Word[]): boolean {
  const { text } = before.at(-1)!
  const folded = foldedCore(text)
  const isRepeated = [1, 2].some((count) => {
    const [said, again] = [before.slice(-count), next.slice(0, count)].map((words) => {
      return words.map((word) => foldedCore(word.text)).join(' ')
    })
    return said === again
  })
  const isListed = JOINED_TO_NEXT.has(folded) || CONTRACTION.test(folded)
  return wordPartsOf(text).after === ',' && !isRepeated && isListed
}

function foldedCore(text: string): string {
  const { core, possessive } = wordPartsOf(text)
  return foldWord(core + possessive)
}
