import type { JsonSchema } from '../schemas/common/type.ts'

/** How a schema is published. */
export type PublishOptions = {
  /** Whether objects that name their fields refuse all others. */
  closed: boolean
  /** Whether fields that are not required may be null, as in JSON bodies, where it means absent. */
  nullable?: boolean
}

/** The formats of JSON Schema and OpenAPI that our schemas use; all other formats are our own. */
const standardFormats = new Set(['binary', 'date', 'date-time', 'uri', 'uuid'])

/** Replacements for our own formats; a format without a replacement is omitted. */
const ownFormats: Record<string, JsonSchema> = {
  'date-or-date-time': { anyOf: [{ format: 'date' }, { format: 'date-time' }] },
  'http-url': { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]' },
}

/**
 * Rewrites one of our schemas as the plain JSON Schema that clients read. Internally, a field with
 * a default is required, since it is present after reading; for clients, it is optional. Integers
 * are those that JSON carries exactly.
 */
export function publishSchema(schema: object, options: PublishOptions): JsonSchema {
  const { format, patternProperties, properties, required, ...otherKeywords } = schema as JsonSchema
  const published = Object.fromEntries(
    Object.entries(otherKeywords).map(([key, value]) => [key, publishValue(key, value, options)]),
  )
  if (typeof format === 'string') {
    Object.assign(published, standardFormats.has(format) ? { format } : ownFormats[format])
  }
  if (otherKeywords.type === 'integer' && !otherKeywords.enum) {
    published.minimum ??= Number.MIN_SAFE_INTEGER
    published.maximum ??= Number.MAX_SAFE_INTEGER
  }
  if (patternProperties) {
    const [values] = Object.values(patternProperties as JsonSchema)
    published.additionalProperties = publishSchema(values as object, options)
  }
  if (properties) {
    const fields = properties as Record<string, JsonSchema>
    const names = (required as readonly string[] | undefined) ?? []
    const requiredNames = names.filter((name) => !('default' in fields[name]!))
    published.properties = Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        const publishedField = publishSchema(field, options)
        const isNullable = options.nullable && !requiredNames.includes(name)
        return [name, isNullable ? acceptNull(publishedField) : publishedField]
      }),
    )
    if (requiredNames.length > 0) published.required = requiredNames
    if (options.closed) published.additionalProperties ??= false
  }
  return published
}

/** Makes a schema accept null too. One with a title becomes a component, which stays as it is. */
function acceptNull(schema: JsonSchema): JsonSchema {
  const { title, type, enum: choices, anyOf } = schema
  if (title) return { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(Array.isArray(choices) && { enum: [...choices, null] }),
    ...(Array.isArray(anyOf) && type === undefined && { anyOf: [...anyOf, { type: 'null' }] }),
  }
}

/**
 * Publishes a value of a keyword: a schema (`items`), a list of schemas (`anyOf`) or any other
 * value; a default is not a schema. A form may always have other parts, but its schema does not
 * state that, because the reference page would then ask for one.
 */
function publishValue(key: string, value: unknown, options: PublishOptions): unknown {
  if (key === 'default' || typeof value !== 'object' || value === null) return value
  if (key === 'multipart/form-data') return publishSchema(value, { closed: false })
  if (!Array.isArray(value)) return publishSchema(value, options)
  return value.map((item) => publishValue('', item, options))
}
