import type { Transcript, Utterance } from '../../../transcript/transcript.ts'
import { applyLetterRules, ENGLISH_RULES } from '../../vocabulary/grapheme-to-phoneme.ts'
import { editDistance, phoneDistance } from '../../vocabulary/phone-distance.ts'
import { phonesOf } from '../../vocabulary/phones.ts'
import { foldCase, wordPartsOf } from '../word-parts.ts'
import { coOccur, type SpokenName, spokenNames } from './spoken-names.ts'

/** A spelling of a name, the spelling that replaced it, and the number of replacements. */
export type NameChange = { from: string; to: string; count: number }

/**
 * The supported languages. In others, capitals do not mark names, or the phones are not known well
 * enough.
 */
export const languages: readonly string[] = ['en']

/** A name with its pronunciation. */
type PronouncedName = SpokenName & {
  phones: readonly number[]
  /** Its phones by letter rules alone, without the dictionary. */
  rulePhones: string
}

/** Names of at most this many phones sound alike only if their phones are equal. */
const SHORT_NAME_PHONES = 6
/** The greatest distance per phone of longer names that sound alike. */
const MAX_DISTANCE = 0.06

/**
 * Replaces names that sound alike by the most frequent spelling. Two names in one sentence of an
 * utterance belong to two people and do not change; neither do words that occur only at the
 * beginning of sentences, or also in lower case.
 */
export function makeNamesConsistent(transcript: Transcript): {
  transcript: Transcript
  changes: NameChange[]
} {
  const english = transcript.utterances.filter(({ language }) => languages.includes(language))
  const names = spokenNames(english).map((name): PronouncedName => {
    const { spelling } = name
    const rulePhones = applyLetterRules(foldCase(spelling), ENGLISH_RULES)
    return { ...name, phones: phonesOf(spelling, 'en'), rulePhones }
  })
  const groups: PronouncedName[][] = []
  for (const name of names) {
    const group = groups.find((group) => {
      return soundsAlike(group[0]!, name) && !group.some((otherName) => coOccur(name, otherName))
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

/** The text that replaces a name that must not be revealed. */
const REDACTED = '[REDACTED]'

/**
 * Returns the changes as the result of the add-on, which is JSON text. If names are `secret`,
 * because they are redacted, it shows only how often each was changed.
 */
export function writeNameChanges(
  changes: readonly NameChange[],
  { secret = false }: { secret?: boolean } = {},
): string {
  if (!secret) return JSON.stringify(changes)
  return JSON.stringify(changes.map(({ count }) => ({ from: REDACTED, to: REDACTED, count })))
}

/**
 * Returns whether two names sound alike, by the dictionary or by letter rules: the dictionary has
 * slightly different phones for Catherine and Katherine.
 */
function soundsAlike(a: PronouncedName, b: PronouncedName): boolean {
  const longerLength = Math.max(a.phones.length, b.phones.length)
  if (a.phones.length < 2 || b.phones.length < 2) return false
  if (a.rulePhones === b.rulePhones) return true
  if (phoneDistance(a.phones[0]!, b.phones[0]!) > 0) return false
  const limit = longerLength <= SHORT_NAME_PHONES ? 0 : MAX_DISTANCE * longerLength
  return editDistance(a.phones, b.phones, limit) <= limit
}

/**
 * Replaces each spelling of a name by its value in `spellings`; punctuation and a possessive 's
 * stay.
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
