import type Typebox from 'typebox'
import type { TSchema } from 'typebox'

type Kinds =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Intersect'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'

/** A JSON Schema as plain data. */
export type JsonSchema = Record<string, unknown>

/** Marks a schema as an optional property, in typebox and here. */
const OPTIONAL = '~optional'

/**
 * The builders of JSON Schemas, with the types of typebox, from which handlers derive the types of
 * requests. The builders of typebox are 370 modules, which every start would have to load; its
 * other functions take these schemas too.
 */
export const Type = {
  Array: (items: TSchema, options?: JsonSchema) =>
    withKind('Array', { type: 'array', items, ...options }),
  Boolean: (options?: JsonSchema) => withKind('Boolean', { type: 'boolean', ...options }),
  Integer: (options?: JsonSchema) => withKind('Integer', { type: 'integer', ...options }),
  Intersect: (allOf: TSchema[], options?: JsonSchema) =>
    withKind('Intersect', { allOf, ...options }),
  Null: (options?: JsonSchema) => withKind('Null', { type: 'null', ...options }),
  Number: (options?: JsonSchema) => withKind('Number', { type: 'number', ...options }),
  Object(properties: Record<string, TSchema>, options?: JsonSchema) {
    const names = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!))
    const required = names.length > 0 && { required: names }
    return withKind('Object', { type: 'object', ...required, properties, ...options })
  },
  Optional(schema: TSchema) {
    const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
    return defineHiddenProperty(copy, OPTIONAL, true)
  },
  /** An object with any names; `values` is the schema of their values. */
  Record(_names: TSchema, values: TSchema, options?: JsonSchema) {
    return withKind('Record', { type: 'object', patternProperties: { '^.*$': values }, ...options })
  },
  String: (options?: JsonSchema) => withKind('String', { type: 'string', ...options }),
  Union: (anyOf: TSchema[], options?: JsonSchema) => withKind('Union', { anyOf, ...options }),
  Unknown: (options?: JsonSchema) => withKind('Unknown', { ...options }),
  Unsafe: (schema: TSchema) => schema,
} as unknown as Pick<typeof Typebox, Kinds>

/** Adds the kind of a schema, which the functions of typebox read. */
function withKind(kind: Kinds, schema: JsonSchema): JsonSchema {
  return defineHiddenProperty(schema, '~kind', kind)
}

/** Adds a property that is not enumerable, so that the JSON Schema lacks it. */
function defineHiddenProperty<T extends object>(schema: T, name: string, value: unknown): T {
  return Object.defineProperty(schema, name, { value, configurable: true })
}
