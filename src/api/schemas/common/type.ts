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
    make('Array', { type: 'array', items, ...options }),
  Boolean: (options?: JsonSchema) => make('Boolean', { type: 'boolean', ...options }),
  Integer: (options?: JsonSchema) => make('Integer', { type: 'integer', ...options }),
  Intersect: (allOf: TSchema[], options?: JsonSchema) => make('Intersect', { allOf, ...options }),
  Null: (options?: JsonSchema) => make('Null', { type: 'null', ...options }),
  Number: (options?: JsonSchema) => make('Number', { type: 'number', ...options }),
  Object(properties: Record<string, TSchema>, options?: JsonSchema) {
    const names = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!))
    const required = names.length > 0 && { required: names }
    return make('Object', { type: 'object', ...required, properties, ...options })
  },
  Optional(schema: TSchema) {
    const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
    return hide(copy, OPTIONAL, true)
  },
  /** Of any names; `values` is the schema of their values. */
  Record(_names: TSchema, values: TSchema, options?: JsonSchema) {
    return make('Record', { type: 'object', patternProperties: { '^.*$': values }, ...options })
  },
  String: (options?: JsonSchema) => make('String', { type: 'string', ...options }),
  Union: (anyOf: TSchema[], options?: JsonSchema) => make('Union', { anyOf, ...options }),
  Unknown: (options?: JsonSchema) => make('Unknown', { ...options }),
  Unsafe: (schema: TSchema) => schema,
} as unknown as Pick<typeof Typebox, Kinds>

/** The kind is for the functions of typebox. */
function make(kind: Kinds, schema: JsonSchema): JsonSchema {
  return hide(schema, '~kind', kind)
}

/** Adds a property that is no part of the JSON Schema. */
function hide<T extends object>(schema: T, name: string, value: unknown): T {
  return Object.defineProperty(schema, name, { value, configurable: true })
}
