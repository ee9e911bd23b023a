/**
 * Moves every schema with a title from `parts` of the description into a component of that name,
 * and leaves references. The schemas of a route can thus be plain values that contain one another.
 * Two different schemas with one name are an error.
 */
export function hoistComponents<T extends Record<string, unknown>>(
  parts: T,
): {
  hoisted: T
  schemas: Record<string, unknown>
} {
  const schemas = new Map<string, unknown>()

  function hoist(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(hoist)
    if (typeof value !== 'object' || value === null) return value
    const hoistedSchema = Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, hoist(item)]),
    )
    const { title } = hoistedSchema
    if (typeof title !== 'string') return hoistedSchema
    const namedSchema = schemas.get(title)
    if (namedSchema && JSON.stringify(namedSchema) !== JSON.stringify(hoistedSchema)) {
      throw new TypeError(`two schemas are called ${title}`)
    }
    schemas.set(title, hoistedSchema)
    return { $ref: `#/components/schemas/${title}` }
  }

  const hoisted = hoist(parts) as T
  const byName = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1))
  return { hoisted, schemas: Object.fromEntries(byName) }
}
