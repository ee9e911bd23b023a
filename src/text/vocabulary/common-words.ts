import { readFileSync } from 'node:fs'
import { foldCase } from '../words/word-parts.ts'

/** Words with a grammatical function only: an entry hardly ever begins or ends with one. */
const FUNCTION_WORDS = new Set(
  `a an the and or but nor so if then than that this these those there here to of in on at by for from with
  into onto as is am are was were be been being do does did have has had will would shall should can could may
  might must not no i me my you your he him his she her it its we us our they them their who whom whose which
  what when where why how all any some each just also very too i'm you're he's she's it's
  we're they're i've i'll don't didn't that's there's what's let's`.split(/\s+/),
)

/** Conversational words, which word lists compiled from written text lack. */
const CONVERSATIONAL_WORDS = [
  'yeah',
  'okay',
  'ok',
  'oh',
  'um',
  'uh',
  'hmm',
  'hey',
  'hi',
  'wow',
  'yep',
  'nope',
  'gonna',
  'wanna',
]

let commonWords: Set<string> | undefined

/**
 * Returns whether a lower-case word is among the 11,000 common words of English. A contraction or
 * possessive is common if the part before its apostrophe is.
 */
export function isCommonWord(word: string): boolean {
  commonWords ??= new Set([...readList(), ...CONVERSATIONAL_WORDS, ...FUNCTION_WORDS])
  return commonWords.has(word) || commonWords.has(word.replace(/'.*/, ''))
}

/**
 * Returns whether a lower-case word is an English function word: an article, a pronoun, a
 * preposition and the like.
 */
export function isFunctionWord(word: string): boolean {
  return FUNCTION_WORDS.has(word)
}

function readList(): string[] {
  const list = new URL('../words/lists/common-english-words.txt', import.meta.url)
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(foldCase)
}
