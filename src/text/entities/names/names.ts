import { tagsOf } from '../../words/word-lists.ts'
import type { Entity, EntityType } from '../entity-types.ts'
import { leadPattern } from '../matching/matching.ts'
import { isUncased, type WordToken } from '../matching/word-tokens.ts'
import { isListedPlace } from './gazetteer.ts'
import {
  endOfInitials,
  endOfName,
  endOfParticles,
  isAcronym,
  isAnyGivenName,
  isFamily,
  isOrdinaryWord,
  isPlaceName,
  isUnknown,
  isWordLike,
  neverNames,
  particles,
} from './name-words.ts'
import {
  coordinated,
  familyAlone,
  givenAlone,
  givenUncased,
  isFamilyNameAfter,
  rareUncased,
  stuttered,
} from './single-names.ts'
import { findSpelled } from './spelled-names.ts'

const medical = new Set(['dr', 'doctor', 'nurse', 'surgeon', 'dr.'])
const civil = new Set([
  'mr',
  'mrs',
  'ms',
  'miss',
  'mister',
  'sir',
  'madam',
  'professor',
  'prof',
  'senator',
  'officer',
  'judge',
  'captain',
  'sergeant',
  'detective',
  'president',
  ...[
    'mx',
    'dame',
    'lord',
    'lady',
    'reverend',
    'rev',
    'rev.',
    'pastor',
    'rabbi',
    'imam',
    'inspector',
  ],
  ...[
    'constable',
    'sheriff',
    'deputy',
    'lieutenant',
    'colonel',
    'major',
    'commander',
    'ambassador',
  ],
  ...['councillor', 'councilor', 'congressman', 'congresswoman', 'governor', 'mayor', 'coach'],
  ...['minister', 'chancellor', 'secretary', 'chairman', 'chairwoman'],
])
/** Titles without another meaning: a name after one needs no capital. */
const titles = /^(?:mr|mrs|ms|mx|mister|dr|doctor)\.?$/
const kin = new Set([
  ...['sister', 'brother', 'son', 'daughter', 'wife', 'husband', 'mother', 'father', 'mom', 'dad'],
  ...['uncle', 'aunt', 'cousin', 'nephew', 'niece', 'friend', 'friends', 'boss', 'manager'],
  ...['colleague', 'coworker', 'neighbor', 'neighbour', 'partner', 'girlfriend', 'boyfriend'],
  ...['fiancé', 'fiancée', 'host', 'co-host', 'guest', 'roommate', 'assistant', 'mum', 'auntie'],
  ...['grandma', 'grandpa', 'grandson', 'granddaughter', 'stepson', 'stepdaughter'],
  ...['pharmacist', 'physiotherapist', 'therapist', 'dentist', 'carer', 'caregiver', 'solicitor'],
  ...['lawyer', 'accountant', 'teacher', 'landlord', 'tenant', 'customer', 'caller'],
  ...['patient', 'supervisor', 'trainer', 'babysitter', 'nana', 'granny'],
])
const familyCue = new RegExp(`\\b(?:last name|surname|family name|maiden name)${leadPattern}`, 'iu')
const givenCue = new RegExp(`\\b(?:first|given|middle) name${leadPattern}`, 'iu')
const fullCue = new RegExp(
  `\\b(?:my|his|her|full|the|your|whose|customer|patient)(?: full)? name${leadPattern}|\\bname\\b[^.?!]{1,40},? (?:but |and )?(?:it['’]s |it is )?pronounced $`,
  'iu',
)
const whoCue =
  /\b(?:who am I (?:speaking|talking) (?:with|to)|who is this|who's this|who's calling|who is calling)(?: today| please)?[,?. ]+(?:(?:this is|it's|my name's|yes|hi|um|uh)[,.]? )*$/i

/** Finds names of people: by titles, introductions, and the lists of given and family names. */
export function findNames(text: string, tokens: readonly WordToken[]): Entity[] {
  const foundEntities: Entity[] = []
  const add = (type: EntityType, [begin, end]: [number, number], score: number) => {
    foundEntities.push({ type, from: tokens[begin]!.from, to: tokens[end - 1]!.to, score })
  }
  const uncased = isUncased(text)
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!
    const cue = cueBefore(text, tokens, at)
    const name = isAcronym(token)
      ? undefined
      : (stuttered(tokens, at) ??
        readName(tokens, at, { cue, uncased }) ??
        (uncased ? givenUncased(tokens, at) : undefined))
    if (!name) {
      at++
      continue
    }
    add(name.type, [at, name.end], name.score)
    at = name.end
  }
  return [
    ...foundEntities,
    ...coordinated(tokens, foundEntities),
    ...findSpelled(text, foundEntities),
  ]
}

type NameCue = 'medical' | 'civil' | 'family' | 'given' | 'full' | 'introduced' | undefined

function cueBefore(text: string, tokens: readonly WordToken[], at: number): NameCue {
  const isAfterEmeritus = /^emerit(?:us|a)$/.test(tokens[at - 1]?.lower ?? '')
  const [previous, token] = [tokens[isAfterEmeritus ? at - 2 : at - 1], tokens[at]!]
  if (previous && medical.has(previous.lower) && token.capital && !previous.closed) return 'medical'
  if (previous?.capital && civil.has(previous.lower) && token.capital && !previous.closed)
    return 'civil'
  if (previous && titles.test(previous.lower) && !previous.closed) {
    // "The doctor hill" is not a name.
    const isEveryday = previous.lower === 'doctor' && isOrdinaryWord(token.lower)
    const isFamilyName = isFamilyNameAfter(token) && !isEveryday
    if (isFamilyName || endOfParticles(tokens, at) > at) return 'civil'
  }
  const textBefore = text.slice(Math.max(0, token.from - 70), token.from).replace(/’/g, "'")
  if (familyCue.test(textBefore)) return 'family'
  if (givenCue.test(textBefore)) return 'given'
  if (fullCue.test(textBefore)) return 'full'
  if (whoCue.test(textBefore)) return 'introduced'
  if (previous && kin.has(previous.lower) && (!previous.closed || previous.comma))
    return 'introduced'
  return introduction.test(textBefore) ? 'introduced' : undefined
}

/** Words directly before a person's name. */
const introduction = new RegExp(
  `\\b(?:${[
    "I'm|I am|this is|it's|it was|is that|named|called|calls? me|goes by|short for|name (?:is|was)",
    '(?:talk|speak)(?:ing)? (?:to|with)|(?:talked|spoke|spoken) (?:to|with)|met(?: with)?',
    '(?:deal|dealt|dealing|live|lives|lived) with|(?:transfer|put|pass)\\w* (?:you|me|us) (?:through |over |on )?to',
    'ask(?:ed)?(?: for)?|tell|told|remind|looking for|attention|care of|on behalf of|in the name of',
    '(?:payable|belongs?|registered|addressed|regards) to|signed by|sincerely,|dear',
    '(?:booking|reservation|appointment|table|delivery|parcel|prescription) for',
    "(?:customer|caller|patient|tenant|client|agent|landlord|manager|boss|supervisor|driver|doctor|lady|son|daughter|wife|husband|mother|father|brother|sister)(?: is|'s| was)",
    '(?:hi|hello|hey|thanks|thank you|bye|goodbye|okay|alright|all right|yes|sorry|welcome),?|no,',
  ].join('|')})(?: the late)? $`,
  'i',
)

function readName(
  tokens: readonly WordToken[],
  at: number,
  { cue, uncased }: { cue: NameCue; uncased: boolean },
) {
  const token = tokens[at]!
  if (!token.capital && (cue === 'civil' || cue === 'medical')) {
    const end = Math.max(endOfParticles(tokens, at), at + 1)
    return { type: 'NAME_FAMILY' as const, end, score: 0.8 }
  }
  const withInitials = cue ? endOfInitials(tokens, at, cue !== 'introduced') : at
  if (withInitials > at) return { type: 'NAME' as const, end: withInitials, score: 0.85 }
  if (!token.capital && !(cue === 'full' || cue === 'given' || cue === 'family')) return undefined
  const end = endOfName(tokens, at)
  const single = end === at + 1
  // "Mrs. Van Dyke" is a family name of two words.
  const isFamilyAlone = single || particles.has(token.lower)
  if (cue === 'medical' && end > at)
    return { type: 'NAME_MEDICAL_PROFESSIONAL' as const, end, score: 0.9 }
  if (cue === 'civil' && end > at)
    return { type: isFamilyAlone ? ('NAME_FAMILY' as const) : ('NAME' as const), end, score: 0.9 }
  if (cue === 'family' && (end > at || (token.capital && !token.initial)))
    return { type: 'NAME_FAMILY' as const, end: Math.max(end, at + 1), score: 0.9 }
  if (!token.capital) {
    const listed = givenUncased(tokens, at, true)
    if (listed || !uncased) return listed
    return rareUncased(tokens, at, { isFamilyName: cue === 'family' })
  }
  if (cue === 'given' || cue === 'full') {
    const none = neverNames.has(token.lower) || token.initial
    const last = Math.max(end, none ? at : at + 1)
    if (last === at) return undefined
    const one = cue === 'full' && isFamily(token.lower) && !isAnyGivenName(token.lower)
    const alone = one ? ('NAME_FAMILY' as const) : ('NAME_GIVEN' as const)
    return {
      type: last === at + 1 ? alone : ('NAME' as const),
      end: last,
      score: 0.9,
    }
  }
  if (end === at) return undefined
  if (!single) return fullName(tokens, at, end, cue)
  // "Tell Schwartz": colleagues use the family name by itself.
  const isTold = /^(?:tell|told|ask|asked|remind)$/.test(tokens[at - 1]?.lower ?? '')
  return (
    (isTold && !isAnyGivenName(token.lower) ? familyAlone(tokens, at) : undefined) ??
    givenAlone(tokens, at, cue === 'introduced') ??
    familyAlone(tokens, at)
  )
}

function fullName(tokens: readonly WordToken[], at: number, end: number, cue: NameCue) {
  const part = tokens.slice(at, end)
  if (isListedPlace(part)) return undefined
  const first = part[0]!
  const isKnownName = isAnyGivenName(first.lower)
  const rest = part.slice(1)
  const withFamily = rest.some(({ lower }) => isFamily(lower))
  const hedged = isWordLike(first.lower) && first.initial
  if (isKnownName && (!hedged || withFamily)) return { type: 'NAME' as const, end, score: 0.85 }
  if (cue === 'introduced') return { type: 'NAME' as const, end, score: 0.8 }
  if (!first.initial && withFamily && !isPlaceName(first))
    return { type: 'NAME' as const, end, score: 0.7 }
  if (
    first.initial &&
    withFamily &&
    isUnknown(first) &&
    tagsOf(first.lower).length === 0 &&
    first.text.length > 3
  )
    return { type: 'NAME' as const, end, score: 0.6 }
  return undefined
}
