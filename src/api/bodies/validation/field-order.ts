import type { TSchema } from 'typebox'
import type { FieldError } from './validate-fields.ts'

type Fields = { properties?: Record<string, Fields> }

/**
 * Sorts errors in the order of the schema's fields at every depth; those of one
 * field keep their order, unknown fields come last.
 */
export function inFieldOrder(schema: TSchema, errors: readonly FieldError[]): FieldError[] {
  const placed = errors.map((error) => ({ error, places: fieldPlaces(schema, error.path) }))
  return placed.sort((a, b) => comparePlaces(a.places, b.places)).map(({ error }) => error)
}

/** Returns the position of each part of a path, as far as the schema names fields. */
function fieldPlaces(schema: Fields, path: readonly string[]): number[] {
  const places: number[] = []
  let { properties } = schema
  for (const name of path) {
    if (!properties) break
    const place = Object.keys(properties).indexOf(name)
    places.push(place < 0 ? Number.POSITIVE_INFINITY : place)
    properties = Object.hasOwn(properties, name) ? properties[name]!.properties : undefined
  }
  return places
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((place, i) => i < b.length && place !== b[i])
  return i < 0 ? a.length - b.length : a[i]! < b[i]! ? -1 : 1
}
