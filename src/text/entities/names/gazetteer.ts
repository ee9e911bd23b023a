import { taggedWith, tagsOf, wordList } from '../../words/word-lists.ts'
import { everydayTags, everydayWords, inContext } from '../context/list-context.ts'
import type { Entity, EntityType } from '../entity-types.ts'
import { isUncased, type WordToken } from '../matching/word-tokens.ts'
import { listSpelling } from './accents.ts'
import { isFamily, isOrdinaryWord } from './name-words.ts'

type NameListSource = {
  type: EntityType
  lists: string[]
  tags?: string[]
  /** Whether the phrase also matches in lower case, as everything but a proper noun does. */
  lowerCase?: true
}

/** The word lists. If a phrase is in several, the last one wins. */
const sources: NameListSource[] = [
  { type: 'NAME', lists: [], tags: ['Person'] },
  { type: 'ORGANIZATION', lists: ['names/organizations'], tags: ['Organization', 'SportsTeam'] },
  { type: 'LOCATION', lists: ['places/regions'], tags: ['Region'] },
  { type: 'LOCATION_CITY', lists: ['places/cities-world', 'places/cities'], tags: ['City'] },
  { type: 'LOCATION_COUNTRY', lists: ['places/countries'], tags: ['Country'] },
  { type: 'LOCATION_STATE', lists: ['places/us-states'] },
  { type: 'ORIGIN', lists: ['people/nationalities'], tags: ['Demonym'] },
  { type: 'LANGUAGE', lists: ['people/languages'] },
  { type: 'RELIGION', lists: ['people/religions'], lowerCase: true },
  { type: 'POLITICAL_AFFILIATION', lists: ['people/politics'], lowerCase: true },
  { type: 'ZODIAC_SIGN', lists: ['people/zodiac'] },
  { type: 'MARITAL_STATUS', lists: ['people/marital'], lowerCase: true },
  { type: 'GENDER', lists: ['people/genders'], lowerCase: true },
  { type: 'SEXUALITY', lists: ['people/sexualities'], lowerCase: true },
  { type: 'DRUG', lists: ['medical/drugs'], lowerCase: true },
  { type: 'CONDITION', lists: ['medical/conditions'], lowerCase: true },
  { type: 'INJURY', lists: ['medical/injuries'], lowerCase: true },
  { type: 'MEDICAL_PROCESS', lists: ['medical/medical-processes'], lowerCase: true },
  { type: 'OCCUPATION', lists: ['people/occupations'], lowerCase: true },
  { type: 'PRODUCT', lists: ['names/products'] },
  { type: 'EVENT', lists: ['names/events'] },
]

/** A listed phrase. `letters` marks an acronym that is a common word in lower case: WHO, AIDS. */
type GazetteerEntry = { type: EntityType; lowerCase: boolean; letters: boolean }

let phrases: Map<string, GazetteerEntry> | undefined
const MAX_PHRASE_WORDS = 4

function loadPhrases(): Map<string, GazetteerEntry> {
  const all = new Map<string, GazetteerEntry>()
  for (const { type, lists, tags = [], lowerCase = false } of sources) {
    const listed = [...lists.flatMap(wordList), ...tags.flatMap(taggedWith)]
    for (const phrase of listed) {
      const letters = /^\p{Lu}{2,5}$/u.test(phrase)
      all.set(listSpelling(phrase), { type, lowerCase, letters })
      // A token has no possessive: "Parkinson's" arrives here as "Parkinson".
      if (/['’]s$/.test(phrase))
        all.set(listSpelling(phrase.slice(0, -2)), { type, lowerCase, letters })
    }
  }
  return all
}

/** Returns whether words are a listed place that looks like a name, such as "Ann Arbor". */
export function isListedPlace(tokens: readonly WordToken[]): boolean {
  phrases ??= loadPhrases()
  const phrase = listSpelling(tokens.map(({ lower }) => lower).join(' '))
  return phrases.get(phrase)?.type.startsWith('LOCATION') ?? false
}

/**
 * Finds the entries of the word lists: places, peoples, beliefs, medicine, occupations, companies.
 */
export function findListed(text: string, tokens: readonly WordToken[]): Entity[] {
  phrases ??= loadPhrases()
  const foundEntities: Entity[] = []
  const cased = !isUncased(text)
  for (let at = 0; at < tokens.length; at++) {
    for (let count = Math.min(MAX_PHRASE_WORDS, tokens.length - at); count > 0; count--) {
      const entity = listedAt(tokens.slice(at, at + count), cased)
      if (!entity) continue
      foundEntities.push(...inContext(entity, { text, tokens, at, count }))
      at += count - 1
      break
    }
  }
  return foundEntities
}

function listedAt(part: readonly WordToken[], cased: boolean): Entity | undefined {
  if (part.slice(0, -1).some(({ closed }) => closed)) return undefined
  const phrase = listSpelling(part.map(({ lower }) => lower).join(' '))
  const listed = phrases!.get(phrase) ?? plural(phrase)
  if (!listed) return undefined
  const last = part.at(-1)!
  if (cased && listed.letters && last.text !== last.text.toUpperCase()) return undefined
  if (!cased && !listed.lowerCase && !isClearlyLowerCase(phrase, listed)) return undefined
  if (cased && !listed.lowerCase && !(part[0]!.capital || part[0]!.lower === 'the'))
    return undefined
  if (cased && !listed.lowerCase && !last.capital) return undefined
  return { type: listed.type, from: part[0]!.from, to: last.to, score: 0.8 }
}

/** Returns whether a proper noun is unambiguous in a text without capitals. */
function isClearlyLowerCase(phrase: string, { type }: GazetteerEntry): boolean {
  if (!/^(?:LOCATION|ORIGIN|LANGUAGE|ORGANIZATION)/.test(type) || phrase.length < 4) return false
  if (phrase.includes(' ')) return !phrase.split(' ').every(isOrdinaryWord)
  if (type === 'ORGANIZATION' || everydayWords.has(phrase) || isFamily(phrase)) return false
  return !isOrdinaryWord(phrase) && !tagsOf(phrase).some((tag) => everydayTags.has(tag))
}

/**
 * Looks up the singular of a plural, only for types that describe people, and drugs: "nurses",
 * "Germans", "Catholics".
 */
function plural(phrase: string): GazetteerEntry | undefined {
  const listed = phrase.endsWith('s') ? phrases!.get(phrase.slice(0, -1)) : undefined
  return listed && ['OCCUPATION', 'ORIGIN', 'RELIGION', 'DRUG'].includes(listed.type)
    ? listed
    : undefined
}
