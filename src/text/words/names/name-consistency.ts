import type { Transcript, Utterance } from '../../../transcript/transcript.ts'
import { ENGLISH, spellOut } from '../../vocabulary/grapheme-to-phoneme.ts'
import { editDistance, phoneDistance } from '../../vocabulary/phone-distance.ts'
import { phonesOf } from '../../vocabulary/phones.ts'
import { foldCase, wordPartsOf } from '../word-parts.ts'
import { coOccur, type SpokenName, spokenNames } from './spoken-names.ts'

/** A spelling of a name, the spelling that replaced it, and how often. */
export type NameChange = { from: string; to: string; count: number }

/**
 * Supported languages: elsewhere a capital does not make a name, or the phones are not known well
 * enough.
 */
export const languages: readonly string[] = ['en']

/** A spelling with its sounds. */
type PronouncedName = SpokenName & {
  phones: readonly number[]
  /** Its pronunciation by letter rules alone, for a reader who does not know it. */
  read: string
}

/** Names of so few phones are alike only when their phones are equal. */
const SHORT_NAME_PHONES = 6
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
  const english = transcript.utterances.filter(({ language }) => languages.includes(language))
  const names = spokenNames(english).map((name): PronouncedName => {
    const { spelling } = name
    const read = spellOut(foldCase(spelling), ENGLISH)
    return { ...name, phones: phonesOf(spelling, 'en'), read }
  })
  const groups: PronouncedName[][] = []
  for (const name of names) {
    const group = groups.find((group) => {
      return isAlike(group[0]!, name) && !group.some((otherName) => coOccur(name, otherName))
    })
    if (group) group.push(name)
    else groups.push([name])
  }
  const changes = groups.flatMap(([first, ...others]) => {
    return others.map(({ spelling, count }) => ({ from: spelling, to: first!.spelling, count }))
  })
  const spellings = new Map(changes.map(({ from, to }) => [from, to]))
  const utterances = transcript.utterances.map((utterance) => {
    return languages.includes(utterance.language) ? respellNames(utterance, spellings) : utterance
  })
  return { transcript: { ...transcript, utterances }, changes }
}

/** Replaces a name that must not be revealed. */
const REDACTED = '[REDACTED]'

/**
 * Writes the changes as the result of the add-on, which is JSON text. Where names
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
 * Returns whether two names sound alike, by the dictionary or by letters: the dictionary has
 * slightly different phones for Catherine and Katherine.
 */
function isAlike(a: PronouncedName, b: PronouncedName): boolean {
  const longer = Math.max(a.phones.length, b.phones.length)
  if (a.phones.length < 2 || b.phones.length < 2) return false
  if (a.read === b.read) return true
  if (phoneDistance(a.phones[0]!, b.phones[0]!) > 0) return false
  const limit = longer <= SHORT_NAME_PHONES ? 0 : MAX_DISTANCE * longer
  return editDistance(a.phones, b.phones, limit) <= limit
}

/**
 * Writes each spelling of a name as its value, with the punctuation and the possessive around it.
 */
export function respellNames(
  utterance: Utterance,
  spellings: ReadonlyMap<string, string>,
): Utterance {
  const words = utterance.words.map((word) => {
    const { before, core, possessive, after } = wordPartsOf(word.text)
    const spelling = spellings.get(core)
    return spelling ? { ...word, text: before + spelling + possessive + after } : word
  })
  return { ...utterance, words }
}
