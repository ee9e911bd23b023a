import type { Entity, EntityType } from './entity-types.ts'
import type { Piece } from './pieces.ts'
import { taggedWith, tagsOf, wordList } from './word-lists.ts'

type Source = {
  type: EntityType
  lists: string[]
  tags?: string[]
  /** Written small as well: everything that is no proper noun. */
  small?: true
}

/** Where a phrase stands in several lists, the later one wins. */
const sources: Source[] = [
  { type: 'NAME', lists: [], tags: ['Person'] },
  { type: 'ORGANIZATION', lists: ['organizations'], tags: ['Organization', 'SportsTeam'] },
  { type: 'LOCATION', lists: [], tags: ['Region'] },
  { type: 'LOCATION_CITY', lists: ['cities'], tags: ['City'] },
  { type: 'LOCATION_COUNTRY', lists: ['countries'], tags: ['Country'] },
  { type: 'LOCATION_STATE', lists: ['us-states'] },
  { type: 'ORIGIN', lists: ['nationalities'], tags: ['Demonym'] },
  { type: 'LANGUAGE', lists: ['languages'] },
  { type: 'RELIGION', lists: ['religions'], small: true },
  { type: 'POLITICAL_AFFILIATION', lists: ['politics'], small: true },
  { type: 'ZODIAC_SIGN', lists: ['zodiac'] },
  { type: 'MARITAL_STATUS', lists: ['marital'], small: true },
  { type: 'GENDER', lists: ['genders'], small: true },
  { type: 'SEXUALITY', lists: ['sexualities'], small: true },
  { type: 'DRUG', lists: ['drugs'], small: true },
  { type: 'CONDITION', lists: ['conditions'], small: true },
  { type: 'INJURY', lists: ['injuries'], small: true },
  { type: 'MEDICAL_PROCESS', lists: ['medical-processes'], small: true },
  { type: 'OCCUPATION', lists: ['occupations'], small: true },
  { type: 'PRODUCT', lists: ['products'] },
  { type: 'EVENT', lists: ['events'] },
]

type Listed = { type: EntityType; small: boolean }

let phrases: Map<string, Listed> | undefined
const LONGEST = 4

function loadPhrases(): Map<string, Listed> {
  const all = new Map<string, Listed>()
  for (const { type, lists, tags = [], small = false } of sources) {
    const listed = [...lists.flatMap(wordList), ...tags.flatMap(taggedWith)]
    for (const phrase of listed) all.set(phrase.toLowerCase(), { type, small })
  }
  return all
}

/** What the word lists know: places, peoples, beliefs, medicine, occupations, companies. */
export function findListed(text: string, pieces: readonly Piece[]): Entity[] {
  phrases ??= loadPhrases()
  const found: Entity[] = []
  for (let at = 0; at < pieces.length; at++) {
    for (let count = Math.min(LONGEST, pieces.length - at); count > 0; count--) {
      const entity = listedAt(pieces, at, count)
      if (!entity) continue
      found.push(...inContext(entity, { text, pieces, at, count }))
      at += count - 1
      break
    }
  }
  return found
}

function listedAt(pieces: readonly Piece[], at: number, count: number): Entity | undefined {
  const part = pieces.slice(at, at + count)
  if (part.slice(0, -1).some(({ closed }) => closed)) return undefined
  const phrase = part.map(({ lower }) => lower).join(' ')
  const listed = phrases!.get(phrase) ?? plural(phrase)
  if (!listed) return undefined
  const last = part.at(-1)!
  if (!listed.small && !(part[0]!.capital || part[0]!.lower === 'the')) return undefined
  if (!listed.small && !last.capital) return undefined
  return { type: listed.type, from: part[0]!.from, to: last.to, score: 0.8 }
}

/** "nurses", "Germans", "Catholics": only of what people are. */
function plural(phrase: string): Listed | undefined {
  const listed = phrase.endsWith('s') ? phrases!.get(phrase.slice(0, -1)) : undefined
  return listed && ['OCCUPATION', 'ORIGIN', 'RELIGION', 'DRUG'].includes(listed.type)
    ? listed
    : undefined
}

type Place = { text: string; pieces: readonly Piece[]; at: number; count: number }

/** Everyday words among companies, products and peoples are believed only inside a sentence, or with a cue. */
function inContext(entity: Entity, { text, pieces, at, count }: Place): Entity[] {
  const { type } = entity
  const left = text.slice(Math.max(0, entity.from - 40), entity.from).toLowerCase()
  const first = pieces[at]!
  if (type === 'ORGANIZATION' && noCompanies.has(first.lower)) return []
  if (type === 'LANGUAGE')
    return [{ ...entity, type: isLanguage(left, text.slice(entity.to)) ? type : 'ORIGIN' }]
  if (type === 'GENDER' && !/\b(?:i'm|i am|is|as|a|identif\w+|gender|sex)\W+(?:a )?$/.test(left))
    return []
  if (
    type === 'ZODIAC_SIGN' &&
    !/\b(?:sign|zodiac|i'm|i am|an?|he's|she's|is|and)\W+(?:is )?(?:an? )?$/.test(left)
  )
    return []
  if (
    /^(?:US|AIDS)$/i.test(text.slice(entity.from, entity.to)) &&
    !/^[A-Z]+$/.test(text.slice(entity.from, entity.to))
  )
    return []
  if (count > 1) return [entity]
  if (type === 'NAME') return []
  const everyday =
    tagsOf(first.lower).some((tag) => everydayTags.has(tag)) || everydayWords.has(first.lower)
  if (type === 'ORGANIZATION' && ((first.initial && everyday) || first.text.length < 2)) return []
  if (type === 'LOCATION_CITY' && everyday && first.initial) return []
  if (type === 'LOCATION' && everyday) return []
  return [entity]
}

/** Filed as companies, said as things. */
const noCompanies = new Set([
  'visa',
  'medicare',
  'medicaid',
  'internet',
  'co',
  'ltd',
  'inc',
  'dept',
])
const everydayTags = new Set([
  'Noun',
  'Singular',
  'Plural',
  'Infinitive',
  'Adjective',
  'Comparative',
  'Verb',
  'PresentTense',
  'Uncountable',
  'Actor',
])
const everydayWords = new Set([
  'target',
  'apple',
  'oracle',
  'sprint',
  'visa',
  'subway',
  'chase',
  'meta',
  'delta',
  'fidelity',
  'nice',
  'mobile',
  'reading',
  'mesa',
  'orange',
  'gap',
  'shell',
  'ford',
  'cork',
  'bath',
  'best',
  'queens',
  'split',
  'male',
  'tours',
  'man',
  'most',
])

function isLanguage(left: string, right: string): boolean {
  return (
    /\b(?:speaks?|speaking|spoke|spoken|fluent(?:ly)?|in|into|learn(?:ing|ed)?|stud(?:y|ied|ying)|translat\w+|language|understands?|little|some|and|or|teach(?:es|ing)?|read|write|say|from)\W+(?:is )?(?:a (?:little|bit of) |some |both |to )?$/.test(
      left,
    ) &&
    !/^\s+(?:customers?|people|man|woman|men|women|citizens?|company|companies|passport|food|restaurant|market|family|government|president|army|car|students?|immigrants?|ancestry|descent|heritage|friends?|team|border)\b/.test(
      right,
    )
  )
}
