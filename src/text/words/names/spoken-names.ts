import type { Utterance, Word } from '../../../transcript/transcript.ts'
import { isCommonWord } from '../../vocabulary/common-words.ts'
import { foldCase, wordPartsOf } from '../word-parts.ts'

/** One spelling of a name in a transcript. */
export type SpokenName = {
  spelling: string
  count: number
  /** The sum of the confidence of its words. */
  confidence: number
  /** The numbers of the sentences that contain the name. */
  sentences: Set<number>
  /** The first occurrence: the index of an utterance, and that of a word in it. */
  first: { utterance: number; word: number }
}

/**
 * Returns the names in some utterances, the most frequent first. Equally frequent names are sorted
 * by mean confidence, then by first occurrence. A word is not a name if it occurs only at the
 * beginning of sentences, or also in lower case.
 */
export function spokenNames(utterances: readonly Utterance[]): SpokenName[] {
  const names = new Map<string, SpokenName>()
  const midSentenceSpellings = new Set<string>()
  const otherSpellings = new Set<string>()
  let sentence = 0
  for (const [utterance, { words, language }] of utterances.entries()) {
    sentence++
    let isSentenceStart = true
    for (const [at, word] of words.entries()) {
      const { core, after } = wordPartsOf(word.text)
      if (isName(core, language)) {
        addName(names, { core, word, sentence, first: { utterance, word: at } })
        if (!isSentenceStart) midSentenceSpellings.add(core)
      } else {
        otherSpellings.add(core)
      }
      isSentenceStart = /[.!?…]/.test(after)
      if (isSentenceStart) sentence++
    }
  }
  return [...names.values()]
    .filter(
      ({ spelling }) =>
        midSentenceSpellings.has(spelling) && !otherSpellings.has(foldCase(spelling)),
    )
    .sort((a, b) => b.count - a.count || b.confidence / b.count - a.confidence / a.count)
}

/** Returns whether two names occur in one sentence: then they belong to two people. */
export function coOccur(name: SpokenName, otherName: SpokenName): boolean {
  return [...name.sentences].some((sentence) => otherName.sentences.has(sentence))
}

type FoundName = Pick<SpokenName, 'first'> & { core: string; word: Word; sentence: number }

function addName(names: Map<string, SpokenName>, { core, word, sentence, first }: FoundName): void {
  const name = names.get(core) ?? {
    spelling: core,
    count: 0,
    confidence: 0,
    sentences: new Set<number>(),
    first,
  }
  names.set(core, name)
  name.count++
  name.confidence += word.confidence
  name.sentences.add(sentence)
}

/**
 * Returns whether a word begins with a capital, ends with a lower-case letter, and is not a common
 * English word.
 */
function isName(core: string, language: string): boolean {
  if (!/^\p{Lu}[\p{L}\p{M}'’-]*\p{Ll}/u.test(core)) return false
  return language !== 'en' || !isCommonWord(foldCase(core))
}
