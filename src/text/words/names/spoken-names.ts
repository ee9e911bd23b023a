import type { Utterance, Word } from '../../../transcript/transcript.ts'
import { isCommonWord } from '../../vocabulary/common-words.ts'
import { foldCase, wordPartsOf } from '../word-parts.ts'

/** One spelling of a name in a transcript. */
export type SpokenName = {
  spelling: string
  count: number
  /** The sum of its words. */
  confidence: number
  /** Numbers of the sentences that have it. */
  sentences: Set<number>
  /** Where it was said first: an utterance, and a word of it. */
  first: { utterance: number; word: number }
}

/**
 * Returns the names in some utterances, the most frequent first; of equals the one with more
 * confidence, then the earlier. Words that occur only at the beginning of sentences, or in lower
 * case as well, are none.
 */
export function spokenNames(utterances: readonly Utterance[]): SpokenName[] {
  const names = new Map<string, SpokenName>()
  const inside = new Set<string>()
  const lower = new Set<string>()
  let sentence = 0
  for (const [utterance, { words, language }] of utterances.entries()) {
    sentence++
    let begins = true
    for (const [at, word] of words.entries()) {
      const { core, after } = wordPartsOf(word.text)
      if (isName(core, language)) {
        addName(names, { core, word, sentence, first: { utterance, word: at } })
        if (!begins) inside.add(core)
      } else {
        lower.add(core)
      }
      begins = /[.!?…]/.test(after)
      if (begins) sentence++
    }
  }
  return [...names.values()]
    .filter(({ spelling }) => inside.has(spelling) && !lower.has(foldCase(spelling)))
    .sort((a, b) => b.count - a.count || b.confidence / b.count - a.confidence / a.count)
}

/** Returns whether two names occur in one sentence: then they belong to two people. */
export function coOccur(name: SpokenName, otherName: SpokenName): boolean {
  return [...name.sentences].some((sentence) => otherName.sentences.has(sentence))
}

type FoundName = Pick<SpokenName, 'first'> & { core: string; word: Word; sentence: number }

function addName(names: Map<string, SpokenName>, { core, word, sentence, first }: FoundName): void {
  const name = names.get(core) ?? {
    ...{ spelling: core, count: 0, confidence: 0 },
    ...{ sentences: new Set<number>(), first },
  }
  names.set(core, name)
  name.count++
  name.confidence += word.confidence
  name.sentences.add(sentence)
}

/** Returns whether a word has a capital and lower-case letters, and is no common English word. */
function isName(core: string, language: string): boolean {
  if (!/^\p{Lu}[\p{L}\p{M}'’-]*\p{Ll}/u.test(core)) return false
  return language !== 'en' || !isCommonWord(foldCase(core))
}
