import type { Interjection } from '../../../../src/text/entities/document.ts'
import type { Entity, EntityType } from '../../../../src/text/entities/entity-types.ts'
import type { LabeledSentence } from './sentences.ts'

/** Entities of one type: labeled, found, and correctly found. */
export type Count = { labeled: number; found: number; right: number }

/** More general types that are also correct, because they hide and announce the same words. */
const parents: Partial<Record<EntityType, EntityType>> = {
  NAME_GIVEN: 'NAME',
  NAME_FAMILY: 'NAME',
  NAME_MEDICAL_PROFESSIONAL: 'NAME',
  LOCATION_CITY: 'LOCATION',
  LOCATION_STATE: 'LOCATION',
  LOCATION_COUNTRY: 'LOCATION',
  LOCATION_ZIP: 'LOCATION',
  LOCATION_ADDRESS_STREET: 'LOCATION_ADDRESS',
  DAY: 'DATE',
  MONTH: 'DATE',
  YEAR: 'DATE',
  ORGANIZATION_MEDICAL_FACILITY: 'ORGANIZATION',
  ACCOUNT_NUMBER: 'NUMERICAL_PII',
  BANK_ACCOUNT: 'ACCOUNT_NUMBER',
}

type Finder = (document: { text: string; interjections: Interjection[] }) => Entity[]

/**
 * Counts the correct results of a finder, by type. Correct is the same or a more general type with
 * at least half of the characters of both spans, so that a span that is far too long is wrong as
 * well.
 */
export function scoreFinder(
  find: Finder,
  sentences: readonly LabeledSentence[],
): Map<EntityType, Count> {
  const counts = new Map<EntityType, Count>()
  const count = (type: EntityType, key: keyof Count) => {
    const counted = counts.get(type) ?? { labeled: 0, found: 0, right: 0 }
    counted[key]++
    counts.set(type, counted)
  }
  for (const { text, interjections, entities } of sentences) {
    const found = find({ text, interjections })
    for (const { type } of found) count(type, 'found')
    for (const entity of entities) {
      count(entity.type, 'labeled')
      if (found.some((other) => matches(entity, other))) count(entity.type, 'right')
    }
  }
  return counts
}

function matches(a: Pick<Entity, 'type' | 'from' | 'to'>, b: Entity): boolean {
  const common = Math.min(a.to, b.to) - Math.max(a.from, b.from)
  const type = a.type === b.type || parents[a.type] === b.type
  return type && common >= Math.max(a.to - a.from, b.to - b.from) / 2
}

/** Returns precision and recall over some types together; without any, over all. */
export function totals(counts: ReadonlyMap<EntityType, Count>, types?: readonly EntityType[]) {
  const sum = { labeled: 0, found: 0, right: 0 }
  for (const [type, { labeled, found, right }] of counts) {
    if (types && !types.includes(type)) continue
    sum.labeled += labeled
    sum.found += found
    sum.right += right
  }
  return { ...sum, precision: sum.right / sum.found, recall: sum.right / sum.labeled }
}
