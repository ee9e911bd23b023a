import { type EntityType, entityTypes } from '../entities/entity-types.ts'

/** Types whose label is not their name (contract 4.9). */
const labels: Partial<Record<EntityType, string>> = { EMAIL_ADDRESS: 'EMAIL' }

/** Returns the label of a type in a marker. */
export function labelOf(type: EntityType): string {
  return labels[type] ?? type
}

const marker = `\\[(?<label>${entityTypes.map(labelOf).join('|')})_\\d+\\]`

/** Returns a new pattern that matches markers, with its own state. */
export function markers(): RegExp {
  return new RegExp(marker, 'g')
}
