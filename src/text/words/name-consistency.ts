import type { Transcript, Utterance, Word } from '../../transcript/transcript.ts'
import { isCommon } from '../vocabulary/common-words.ts'
import { ENGLISH, spellOut } from '../vocabulary/grapheme-to-phoneme.ts'
import { editDistance, phoneDistance } from '../vocabulary/phone-distance.ts'
import { phonesOf } from '../vocabulary/phones.ts'
import { foldCase, partsOf } from './word-parts.ts'

/** A spelling of a name, the spelling that replaced it, and how often. */
export type NameChange = { from: string; to: string; count: number }

/**
 * Supported languages: elsewhere a capital does not make a name, or the phones are not known well
 * enough.
 */
export const languages: readonly string[] = ['en']

/** One spelling of a name in a transcript. */
type Name = {
  spelling: string
  phones: readonly number[]
  /** Its pronunciation by letter rules alone, for a reader who does not know it. */
  read: string
  count: number
  confidence: number
  /** Numbers of the sentences that have it. */
  sentences: Set<number>
}

/** Names of so few phones are alike only when their phones are equal. */
const SHORT = 6
/** The greatest distance of longer names, per phone. */
const MAX_DISTANCE = 0.06

/**
 * Replaces names that sound alike by the most frequent spelling. Two names in one sentence of an
 * utterance belong to two people, and stay; so do words that occur only at the beginning of
 * sentences, or in lower case as well.
 */
export function makeNamesConsistent(transcript: Transcript): {
  transcript: Transcript
  changes: NameChange[]
} {
  const names = namesOf(transcript)
  const groups: Name[][] = []
  for (const name of names) {
    const group = groups.find((group) => isAlike(group[0]!, name) && !group.some(meets(name)))
    if (group) group.push(name)
    else groups.push([name])
  }
  const changes = groups.flatMap(([first, ...others]) => {
    return others.map(({ spelling, count }) => ({ from: spelling, to: first!.spelling, count }))
  })
  const spellings = new Map(changes.map(({ from, to }) => [from, to]))
  const utterances = transcript.utterances.map((utterance) => rename(utterance, spellings))
  return { transcript: { ...transcript, utterances }, changes }
}

/** Replaces a name that must not be revealed. */
const REDACTED = '[REDACTED]'

/**
 * Writes the changes as the result of the add-on, which is JSON text (contract 4.5). Where names
 * are `secret`, because they are redacted, it shows only how often one was changed.
 */
export function writeNameChanges(
  changes: readonly NameChange[],
  { secret = false }: { secret?: boolean } = {},
): string {
  if (!secret) return JSON.stringify(changes)
  return JSON.stringify(changes.map(({ count }) => ({ from: REDACTED, to: REDACTED, count })))
}

/**
 * Returns the names of a transcript, the most frequent first; of equals the one with more
 * confidence, then the earlier.
 */
function namesOf({ utterances }: Transcript): Name[] {
  const names = new Map<string, Name>()
  const inside = new Set<string>()
  const lower = new Set<string>()
  let sentence = 0
  for (const { words, language } of utterances) {
    if (!languages.includes(language)) continue
    sentence++
    let begins = true
    for (const word of words) {
      const { core, after } = partsOf(word.text)
      if (isName(core)) {
        addName(names, { core, word, sentence })
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

function addName(
  names: Map<string, Name>,
  { core, word, sentence }: { core: string; word: Word; sentence: number },
): void {
  let name = names.get(core)
  if (!name) {
    const phones = phonesOf(core, 'en')
    const read = spellOut(foldCase(core), ENGLISH)
    name = { spelling: core, phones, read, count: 0, confidence: 0, sentences: new Set() }
    names.set(core, name)
  }
  name.count++
  name.confidence += word.confidence
  name.sentences.add(sentence)
}

/** Returns whether a word has a capital and lower-case letters, and is no common word. */
function isName(core: string): boolean {
  return /^\p{Lu}[\p{L}\p{M}'’-]*\p{Ll}/u.test(core) && !isCommon(foldCase(core))
}

/**
 * Returns whether two names sound alike, by the dictionary or by letters: the dictionary has
 * slightly different phones for Catherine and Katherine.
 */
function isAlike(a: Name, b: Name): boolean {
  const longer = Math.max(a.phones.length, b.phones.length)
  if (a.phones.length < 2 || b.phones.length < 2) return false
  if (a.read === b.read) return true
  if (phoneDistance(a.phones[0]!, b.phones[0]!) > 0) return false
  const limit = longer <= SHORT ? 0 : MAX_DISTANCE * longer
  return editDistance(a.phones, b.phones, limit) <= limit
}

/** Returns whether another name occurs in a sentence with this one. */
function meets({ sentences }: Name): (other: Name) => boolean {
  return (other) => [...sentences].some((sentence) => other.sentences.has(sentence))
}

function rename(utterance: Utterance, spellings: ReadonlyMap<string, string>): Utterance {
  if (!languages.includes(utterance.language)) return utterance
  const words = utterance.words.map((word) => {
    const { before, core, possessive, after } = partsOf(word.text)
    const spelling = spellings.get(core)
    return spelling ? { ...word, text: before + spelling + possessive + after } : word
  })
  return { ...utterance, words }
}
