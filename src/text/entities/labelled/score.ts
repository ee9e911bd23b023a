import type { Entity, EntityType } from '../entity-types.ts'
import type { LabelledSentence } from './sentences.ts'

/** Entities of one type: labelled, found, and found rightly. */
export type Count = { labelled: number; found: number; right: number }

type Finder = (document: { text: string }) => Entity[]

/**
 * Counts what a finder gets right, by type. Right is the same type and at least half of the characters of
 * both, so that a span that is far too long is wrong as well.
 */
export function scoreFinder(
  find: Finder,
  sentences: readonly LabelledSentence[],
): Map<EntityType, Count> {
  const counts = new Map<EntityType, Count>()
  const count = (type: EntityType, key: keyof Count) => {
    const counted = counts.get(type) ?? { labelled: 0, found: 0, right: 0 }
    counted[key]++
    counts.set(type, counted)
  }
  for (const { text, entities } of sentences) {
    const found = find({ text })
    for (const { type } of found) count(type, 'found')
    for (const entity of entities) {
      count(entity.type, 'labelled')
      if (found.some((other) => matches(entity, other))) count(entity.type, 'right')
    }
  }
  return counts
}

function matches(a: Pick<Entity, 'type' | 'from' | 'to'>, b: Entity): boolean {
  const common = Math.min(a.to, b.to) - Math.max(a.from, b.from)
  return a.type === b.type && common >= Math.max(a.to - a.from, b.to - b.from) / 2
}

/** Precision and recall over some types together; without any, over all. */
export function totals(counts: ReadonlyMap<EntityType, Count>, types?: readonly EntityType[]) {
  const sum = { labelled: 0, found: 0, right: 0 }
  for (const [type, { labelled, found, right }] of counts) {
    if (types && !types.includes(type)) continue
    sum.labelled += labelled
    sum.found += found
    sum.right += right
  }
  return { ...sum, precision: sum.right / sum.found, recall: sum.right / sum.labelled }
}
