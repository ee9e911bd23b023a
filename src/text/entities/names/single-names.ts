import { isFunctionWord } from '../../vocabulary/common-words.ts'
import { tagsOf } from '../../words/word-lists.ts'
import type { Entity } from '../entity-types.ts'
import type { WordToken } from '../matching/word-tokens.ts'
import {
  isAnyGivenName,
  isEnglishGivenName,
  isFamily,
  isMonthName,
  isOrdinaryWord,
  isPlaceName,
  isRareWord,
  isUnknown,
  isWordLike,
  neverNames,
} from './name-words.ts'

const places =
  /^(?:in|to|from|near|of|through|around|toward|towards|visit|visiting|downtown|into|via|outside)$/
const insidePlaces = /^(?:in|near|through|around|downtown|into|via|outside|visit|visiting)$/
/** Verbs whose subject is always a person: "Rose said" is not about a flower. */
const speaks =
  /^(?:says?|said|tells|told|asks|asked|thinks|thought|wants|wanted|knows|knew|wrote|emailed|texted|phoned|replied|mentioned|suggested|agrees|agreed|explained|answered|laughed|smiled|married|graduated|speaking|calling|called|rang)$/
const addresses =
  /^(?:hi|hello|hey|can|could|would|will|do|does|did|are|is|have|what|how|when|where|why|you|your|please|i|i'm|i'll|thanks|thank|let's|go|this)$/

/**
 * Recognizes a given name without a family name. After words that introduce it (`introduced`), an
 * unknown word is recognized, too.
 */
export function givenAlone(tokens: readonly WordToken[], at: number, introduced: boolean) {
  const token = tokens[at]!
  const [previous, next] = [tokens[at - 1], tokens[at + 1]]
  const result = { type: 'NAME_GIVEN' as const, end: at + 1, score: 0.75 }
  if (introduced && (isAnyGivenName(token.lower) || isUnlisted(token))) return result
  if (!isAnyGivenName(token.lower)) {
    const isAddressed = token.initial && token.comma && addresses.test(next?.lower ?? '')
    const speaksNext = next !== undefined && !token.closed && speaks.test(next.lower)
    const isAskedFor =
      previous?.lower === 'is' &&
      /^(?:there|available|in|around|free|back|home)$/.test(next?.lower ?? '')
    const isPerson = isAddressed || speaksNext || isAskedFor
    return isPerson && isUnlisted(token) && !isOrdinaryWord(token.lower)
      ? { ...result, score: 0.6 }
      : undefined
  }
  if (previous && places.test(previous.lower) && (isPlaceName(token) || isWordLike(token.lower)))
    return undefined
  if (next && !token.closed && speaks.test(next.lower)) return result
  if (isMonthName(token.lower)) return undefined
  if (!isWordLike(token.lower)) return result
  const joinedName =
    next?.lower === 'and' || previous?.lower === 'and'
      ? tokens[next?.lower === 'and' ? at + 2 : at - 2]
      : undefined
  if (joinedName?.capital && isAnyGivenName(joinedName.lower)) return { ...result, score: 0.85 }
  if (token.initial && token.comma && next && addresses.test(next.lower)) return result
  if (token.initial || isPlaceName(token)) return undefined
  return isFamily(token.lower) && !isAnyGivenName(token.lower) ? undefined : result
}

/**
 * Recognizes a family name without a given name, as colleagues use it: "Tell Schwartz". English
 * words are not recognized.
 */
export function familyAlone(tokens: readonly WordToken[], at: number) {
  const token = tokens[at]!
  const [previous, next] = [tokens[at - 1], tokens[at + 1]]
  const { lower } = token
  if (!token.capital || !isFamily(lower) || isAnyGivenName(lower) || isWordLike(lower))
    return undefined
  if (isOrdinaryWord(lower) || isPlaceName(token) || !isUnknown(token) || lower.length < 4)
    return undefined
  if (previous && insidePlaces.test(previous.lower)) return undefined
  // Next to another capitalized word it is part of something else: a street, a company, a ship.
  if (previous?.capital && !previous.closed && !previous.initial && !neverNames.has(previous.lower))
    return undefined
  if (next?.capital && !token.closed && !neverNames.has(next.lower)) return undefined
  return { type: 'NAME_FAMILY' as const, end: at + 1, score: 0.65 }
}

/**
 * Recognizes a given name without a capital. Everyday words are not recognized, and rare names and
 * places only after a cue.
 */
export function givenUncased(tokens: readonly WordToken[], at: number, cued = false) {
  const { lower, closed } = tokens[at]!
  if (neverNames.has(lower) || lower.length < 3) return undefined
  const next = closed ? undefined : tokens[at + 1]
  const family = next && (cued ? isFamilyNameAfter(next) : isFamilyUncased(next))
  // "My name is mark green": two everyday words, which together are a name.
  const cuedGiven =
    isAnyGivenName(lower) && (!isOrdinaryWord(lower) || (family && isWordLike(lower)))
  if (!(cued ? cuedGiven : isEnglishGivenName(lower) && !isOrdinary(lower))) return undefined
  return family
    ? { type: 'NAME' as const, end: at + 2, score: 0.7 }
    : { type: 'NAME_GIVEN' as const, end: at + 1, score: 0.6 }
}

/**
 * Returns whether a word is on no list. Asterisks mask a swear word, which is not a name: "S***, I
 * forgot".
 */
function isUnlisted(token: WordToken): boolean {
  if (token.text.includes('*')) return false
  return tagsOf(token.lower).length === 0 && isUnknown(token)
}

/**
 * Recognizes a name in lower case that no list contains, after a cue such as "my last name is".
 * Everyday words are not recognized.
 */
export function rareUncased(
  tokens: readonly WordToken[],
  at: number,
  { isFamilyName }: { isFamilyName: boolean },
) {
  if (!isRareWord(tokens[at]!.lower)) return undefined
  const [token, next] = [tokens[at]!, tokens[at + 1]]
  if (isFamilyName) return { type: 'NAME_FAMILY' as const, end: at + 1, score: 0.6 }
  const isFull = next && !token.closed && (isFamilyNameAfter(next) || isRareWord(next.lower))
  return isFull
    ? { type: 'NAME' as const, end: at + 2, score: 0.6 }
    : { type: 'NAME_GIVEN' as const, end: at + 1, score: 0.6 }
}

/**
 * Recognizes a full name in lower case that begins with a stutter: "dave, dave whittaker". `at` is
 * the index of either given name.
 */
export function stuttered(tokens: readonly WordToken[], at: number) {
  const { lower, capital } = tokens[at]!
  const isSecond = tokens[at - 1]?.lower === lower
  if (capital || (!isSecond && tokens[at + 1]?.lower !== lower)) return undefined
  if (!isAnyGivenName(lower) || isOrdinary(lower)) return undefined
  const second = isSecond ? at : at + 1
  const [given, family] = [tokens[second]!, tokens[second + 1]]
  if (!family || given.closed) return undefined
  if (!isFamilyUncased(family) && !isRareWord(family.lower)) return undefined
  return isSecond
    ? { type: 'NAME' as const, end: at + 2, score: 0.7 }
    : { type: 'NAME_GIVEN' as const, end: at + 1, score: 0.6 }
}

function isFamilyUncased({ lower }: WordToken): boolean {
  return isFamily(lower) && !isOrdinary(lower)
}

/**
 * Returns whether a word after "my name is john" or "mr." is a family name. Everyday words are,
 * function words are not.
 */
export function isFamilyNameAfter({ lower }: WordToken): boolean {
  return isFamily(lower) && !neverNames.has(lower) && !isFunctionWord(lower)
}

function isOrdinary(lower: string): boolean {
  return isOrdinaryWord(lower) || isWordLike(lower) || isMonthName(lower) || neverNames.has(lower)
}

/** Finds "Tom, Anita and Kwame": an unknown capitalized word beside a name is one too. */
export function coordinated(
  tokens: readonly WordToken[],
  foundEntities: readonly Entity[],
): Entity[] {
  const named = new Set(
    foundEntities.filter(({ type }) => /^NAME(?:_GIVEN)?$/.test(type)).map(({ to }) => to),
  )
  const begins = new Set(foundEntities.map(({ from }) => from))
  return tokens.flatMap((token, at) => {
    const [comma, before] = [tokens[at - 1], tokens[at - 2]]
    const joined =
      comma && /^(?:and|or)$/.test(comma.lower) ? before : comma?.comma ? comma : undefined
    if (!joined || !named.has(joined.to) || begins.has(token.from)) return []
    if (token.initial || !isUnknown(token) || tagsOf(token.lower).length > 0) return []
    return [{ type: 'NAME_GIVEN' as const, from: token.from, to: token.to, score: 0.6 }]
  })
}
