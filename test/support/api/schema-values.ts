import fc from 'fast-check'
import { characters } from '../text/unicode.ts'

/** The part of JSON Schema that our published schemas use. */
export type JsonSchema = {
  $ref?: string
  type?: string | readonly [string, 'null']
  enum?: readonly unknown[]
  format?: string
  anyOf?: readonly JsonSchema[]
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  required?: readonly string[]
  items?: JsonSchema
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
}

export type ValueOptions = {
  /** The schemas that references point to. */
  schemas?: Record<string, JsonSchema>
  /** Sometimes replaces a valid value. */
  junk?: fc.Arbitrary<unknown>
}

const PATH_CHARACTERS = [
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  ..."-._~!$&'()*+,;=:@",
]
const pathCharacter = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...PATH_CHARACTERS) },
  { weight: 1, arbitrary: characters.map(encodeURIComponent) },
)
const segment = fc.array(pathCharacter, { maxLength: 10 }).map((all) => `/${all.join('')}`)
const urls = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.array(segment, { maxLength: 4 }))
  .map(([scheme, host, path]) => `${scheme}://${host}${path.join('')}`)

/** Generates short values that a schema accepts. */
export function valuesOf(schema: JsonSchema, options: ValueOptions = {}): fc.Arbitrary<unknown> {
  const fitting = fittingValues(schema, options)
  return options.junk
    ? fc.oneof({ weight: 9, arbitrary: fitting }, { weight: 1, arbitrary: options.junk })
    : fitting
}

function fittingValues(schema: JsonSchema, options: ValueOptions): fc.Arbitrary<unknown> {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)!
    return fittingValues(options.schemas![name]!, options)
  }
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, options)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (typeof schema.type === 'object') {
    return fc.option(fittingValues({ ...schema, type: schema.type[0] }, options))
  }
  const { minimum = -1000, maximum = 1000 } = schema
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1000) })
    case 'number':
      return fc.double({ min: minimum, max: Math.min(maximum, minimum + 1000), noNaN: true })
    case 'string':
      return schema.format === 'uri'
        ? urls
        : fc.string({ minLength: schema.minLength ?? 0, maxLength: 12 })
    case 'array':
      return fc.array(valuesOf(schema.items!, options), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'object':
      return objects(schema, options)
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objects(schema: JsonSchema, options: ValueOptions): fc.Arbitrary<unknown> {
  const { properties, additionalProperties, required = [] } = schema
  if (!properties) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {}
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), valuesOf(values, options), {
      maxKeys: 3,
    })
  }
  const fields = Object.entries(properties).map(([name, property]) => [
    name,
    valuesOf(property, options),
  ])
  const record: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields)
  return fc.record(record, { requiredKeys: [...required] })
}
