import type { TSchema } from 'typebox'
import type { FieldError } from './validate-fields.ts'

type Fields = { properties?: Record<string, Fields> }

/**
 * Sorts errors in the order of the schema's fields at every depth; those of one
 * field keep their order, unknown fields come last.
 */
export function inFieldOrder(schema: TSchema, errors: readonly FieldError[]): FieldError[] {
  const errorsWithPositions = errors.map((error) => ({
    error,
    positions: fieldPositions(schema, error.path),
  }))
  return errorsWithPositions
    .sort((a, b) => comparePositions(a.positions, b.positions))
    .map(({ error }) => error)
}

/** Returns the position of each part of a path, as far as the schema names fields. */
function fieldPositions(schema: Fields, path: readonly string[]): number[] {
  const positions: number[] = []
  let { properties } = schema
  for (const name of path) {
    if (!properties) break
    const position = Object.keys(properties).indexOf(name)
    positions.push(position < 0 ? Number.POSITIVE_INFINITY : position)
    properties = Object.hasOwn(properties, name) ? properties[name]!.properties : undefined
  }
  return positions
}

function comparePositions(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((position, i) => i < b.length && position !== b[i])
  return i < 0 ? a.length - b.length : a[i]! < b[i]! ? -1 : 1
}
