import type { Transcript, Word } from '../../transcript/transcript.ts'
import { foldForLists, listPattern } from '../add-ons/moderation/list-patterns.ts'
import { wordPartsOf } from '../words/word-parts.ts'

/** The languages of the word lists. */
export const languages = ['en'] as const

/** The words of a listed phrase that are masked: of "what the hell", only the last. */
const SWEAR_WORDS = /^(?:ass|bitch|bloody|cock|dick|hell|prick)$/

/** Masks swear words and slurs: the first letter stays, each other one becomes an asterisk. */
export function maskProfanity({ utterances, ...rest }: Transcript): Transcript {
  const masked = utterances.map((utterance) => {
    const isKnown = languages.some((language) => language === utterance.language)
    return isKnown ? { ...utterance, words: maskWords(utterance.words) } : utterance
  })
  return { ...rest, utterances: masked }
}

function maskWords(words: readonly Word[]): Word[] {
  let text = ''
  const spans = words.map((word) => {
    const folded = foldForLists(word.text)
    const from = text.length
    text += `${folded} `
    return { folded, from, to: from + folded.length }
  })
  const hits = [...hitsIn(text, 'profanity'), ...hitsIn(text, 'slurs')]
  return words.map((word, i) => {
    const { folded, from, to } = spans[i]!
    const isHit = hits.some((hit) => {
      const touches = folded !== '' && hit.from < to && hit.to > from
      return touches && (!hit.isPhrase || SWEAR_WORDS.test(folded))
    })
    return isHit ? { ...word, text: maskWord(word.text) } : word
  })
}

/** Returns the spans of the listed words and phrases in a text, as offsets. */
function hitsIn(text: string, list: 'profanity' | 'slurs') {
  return [...text.matchAll(new RegExp(listPattern(list), 'gu'))].map(({ 0: hit, index }) => {
    const isPhrase = list === 'profanity' && hit.includes(' ')
    return { from: index, to: index + hit.length, isPhrase }
  })
}

function maskWord(text: string): string {
  const { before, core, possessive, after } = wordPartsOf(text)
  const [first = '', ...rest] = core
  const masked = rest.map((letter) => (/[\p{L}\p{N}]/u.test(letter) ? '*' : letter))
  return before + first + masked.join('') + possessive + after
}
