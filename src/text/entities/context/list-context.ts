import { tagsOf } from '../../words/word-lists.ts'
import type { Entity } from '../entity-types.ts'
import type { WordToken } from '../matching/word-tokens.ts'
import { isFamily, isOrdinaryWord } from '../names/name-words.ts'

type ListItem = { text: string; tokens: readonly WordToken[]; at: number; count: number }

/**
 * Returns a listed entity if its context supports it. Companies, products and peoples whose names
 * are everyday words are found only inside a sentence or with a cue.
 */
export function inContext(entity: Entity, { text, tokens, at, count }: ListItem): Entity[] {
  const { type } = entity
  const textBefore = text.slice(Math.max(0, entity.from - 40), entity.from).toLowerCase()
  const first = tokens[at]!
  if (type === 'ORGANIZATION' && noCompanies.has(first.lower)) return []
  if (type === 'LANGUAGE')
    return [{ ...entity, type: isLanguage(textBefore, text.slice(entity.to)) ? type : 'ORIGIN' }]
  if (
    type === 'GENDER' &&
    !/\b(?:i'm|i am|is|as|a|old|adult|elderly|young|identif\w+|gender|sex)\W+(?:a )?$/.test(
      textBefore,
    )
  )
    return []
  if (
    type === 'ZODIAC_SIGN' &&
    !/\b(?:sign|zodiac|i'm|i am|an?|he's|she's|is|and)\W+(?:is )?(?:an? )?$/.test(textBefore)
  )
    return []
  if (
    type === 'OCCUPATION' &&
    actions.has(first.lower) &&
    !/\b(?:an?|the|my|our|your|his|her|their|as|former|head|chief|this|that|another|every|no) $/.test(
      textBefore,
    )
  )
    return []
  if (count > 1) return [entity]
  // "Ask Baker": a family name that only its capital distinguishes from an occupation.
  if (type === 'OCCUPATION' && first.capital && !first.initial && isFamily(first.lower)) return []
  if (type === 'NAME') return []
  const everyday =
    tagsOf(first.lower).some((tag) => everydayTags.has(tag)) || everydayWords.has(first.lower)
  const isOrdinary = everyday || isOrdinaryWord(first.lower)
  const company = companyActions.test(text.slice(entity.to, entity.to + 20))
  if (type === 'PRODUCT' && first.initial && isOrdinary) return []
  if (
    type === 'ORGANIZATION' &&
    ((first.initial && isOrdinary && !company) || first.text.length < 2)
  )
    return []
  if (type === 'LOCATION_CITY' && everyday && first.initial) return []
  if (type === 'LOCATION' && everyday) return []
  return [entity]
}

/** Words for what a company does, but a thing does not. */
const companyActions =
  /^(?:['’]s (?:CEO|new|latest|stock|shares|quarterly)|,? (?:has |have |just |recently )?(?:announce[sd]?|releas(?:es|ed)|launch(?:es|ed)|report(?:s|ed)|acquire[sd]|bought|hired|rais(?:es|ed)|said|says|unveil(?:s|ed)|stock|shares|customer service))\b/

/** Words for people that are also verbs: "I cook". */
const actions = new Set(
  'anchor author broker coach cook doctor guide judge model nurse tailor tutor vet host'.split(' '),
)

/** Companies whose name usually means a thing. */
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
/** Lexicon tags of words that describe things. */
export const everydayTags = new Set([
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
/** Names that are also everyday words. */
export const everydayWords = new Set([
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
  'turkey',
  'polish',
  'jersey',
  'chile',
  'guinea',
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
