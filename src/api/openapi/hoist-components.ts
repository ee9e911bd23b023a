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

  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    const walked = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]))
    const { title } = walked
    if (typeof title !== 'string') return walked
    const namedSchema = schemas.get(title)
    if (namedSchema && JSON.stringify(namedSchema) !== JSON.stringify(walked)) {
      throw new TypeError(`two schemas are called ${title}`)
    }
    schemas.set(title, walked)
    return { $ref: `#/components/schemas/${title}` }
  }

  const hoisted = walk(parts) as T
  const byName = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1))
  return { hoisted, schemas: Object.fromEntries(byName) }
}
