import { trailingFrom } from '../words/trailing.ts'
import { findAmounts } from './amounts/amounts.ts'
import { withQuestions } from './context/question-context.ts'
import { findDates } from './dates.ts'
import { classifyDigitRuns } from './digits/classify-digit-runs.ts'
import { findCorrected } from './digits/corrections.ts'
import { foldDigits } from './digits/digit-forms.ts'
import { digitRuns } from './digits/digit-runs.ts'
import { lexemesOf } from './digits/spoken-digits.ts'
import type { Document } from './document.ts'
import type { Entity, EntityType } from './entity-types.ts'
import { findCodes } from './identifiers/codes.ts'
import { findOnline } from './identifiers/online.ts'
import { findPassphrases } from './identifiers/passphrases.ts'
import { resolveOverlaps } from './matching/overlaps.ts'
import { tokenizeWords } from './matching/word-tokens.ts'
import { findListed } from './names/gazetteer.ts'
import { findInjuries, findMedical } from './names/medical-words.ts'
import { findNames } from './names/names.ts'
import { findPlaces, joinAddresses } from './names/places.ts'

/** The text to search, and the speech of others within it, if known. */
export type SearchableText = Pick<Document, 'text'> & Partial<Pick<Document, 'interjections'>>

/**
 * Returns the entities of a document by position, without overlaps. With `requestedTypes`, it
 * searches for these types only, and then also finds an entity inside a longer one of another type.
 * Questions on other channels are cues.
 */
export function findEntities(
  document: SearchableText,
  requestedTypes?: ReadonlySet<EntityType>,
): Entity[] {
  const candidates = findCandidates(document)
  return resolveOverlaps(candidates.filter(({ type }) => requestedTypes?.has(type) ?? true))
}

/**
 * Returns every entity that some rule finds in a document, unordered. Several may have the same
 * position.
 */
export function findCandidates(document: SearchableText): Entity[] {
  const { text, toOriginal } = withQuestions(
    foldDigits(document.text),
    document.interjections ?? [],
  )
  const lexemes = lexemesOf(text)
  const tokens = tokenizeWords(text)
  const runs = digitRuns(lexemes)
  const found = [
    ...classifyDigitRuns(text, runs),
    ...findCodes(text, lexemes),
    ...findOnline(text),
    ...findPassphrases(text),
    ...findAmounts(text),
    ...findDates(text),
    ...findPlaces(text),
    ...findListed(text, tokens),
    ...findMedical(tokens),
    ...findInjuries(text),
    ...findNames(text, tokens),
  ]
  const foundEntities = [...found, ...findCorrected(text, { runs, found })]
    .flatMap(toOriginal)
    .map((entity) => trimmed(document.text, entity))
  return [...foundEntities, ...joinAddresses(document.text, foundEntities)]
}

/** Removes punctuation around an entity, and a possessive. */
function trimmed(text: string, entity: Entity): Entity {
  const phrase = text.slice(entity.from, entity.to)
  if (entity.type === 'PASSWORD') return entity
  const marks = trailingFrom(phrase, /[\s.,;:?!…'"”’)\]-]/u)
  const end = /['’]s$/.test(phrase.slice(0, marks)) ? marks - 2 : marks
  const keptLength = /\b(?:[ap]\.m|D\. ?C)\.$/.test(phrase) ? phrase.length : end
  const open = /^[\s,;:'"“‘]*/u.exec(phrase)![0].length
  return { ...entity, from: entity.from + open, to: entity.from + Math.max(keptLength, open) }
}
