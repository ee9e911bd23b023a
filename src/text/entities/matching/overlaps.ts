import type { Entity, EntityType } from '../entity-types.ts'

/** Types that are more general than others at the same position. */
const general = new Set<EntityType>(['NAME', 'LOCATION_ADDRESS', 'LOCATION'])

/**
 * Resolves overlaps, and returns the remaining entities by position. The longest entity wins; of
 * equally long ones, the more general type, then the one with the higher score.
 */
export function resolveOverlaps(entities: readonly Entity[]): Entity[] {
  const keptEntities: Entity[] = []
  // One entry per character, so that a text with many numbers needs no pairwise comparison.
  const coveredCharacters = new Uint8Array(entities.reduce((end, { to }) => Math.max(end, to), 0))
  for (const entity of entities.toSorted(byRank)) {
    const { from, to } = entity
    if (to <= from || coveredCharacters.subarray(from, to).includes(1)) continue
    coveredCharacters.fill(1, from, to)
    keptEntities.push(entity)
  }
  return keptEntities.sort((a, b) => a.from - b.from)
}

/** Orders entities so that those that win an overlap come first. */
export function byRank(a: Entity, b: Entity): number {
  return (
    b.to - b.from - (a.to - a.from) ||
    Number(general.has(b.type)) - Number(general.has(a.type)) ||
    b.score - a.score ||
    a.from - b.from
  )
}
