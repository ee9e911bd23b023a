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

type Schema = Record<string, unknown>

/** Marks a schema as an optional property, in typebox and here. */
const OPTIONAL = '~optional'

/**
 * The builders of JSON Schemas, with the types of typebox, from which handlers derive the types of
 * requests. The builders of typebox are 370 modules, which every start would have to load; its
 * other functions take these schemas too.
 */
export const Type = {
  Array: (items: TSchema, options?: Schema) => make('Array', { type: 'array', items, ...options }),
  Boolean: (options?: Schema) => make('Boolean', { type: 'boolean', ...options }),
  Integer: (options?: Schema) => make('Integer', { type: 'integer', ...options }),
  Intersect: (allOf: TSchema[], options?: Schema) => make('Intersect', { allOf, ...options }),
  Null: (options?: Schema) => make('Null', { type: 'null', ...options }),
  Number: (options?: Schema) => make('Number', { type: 'number', ...options }),
  Object(properties: Record<string, TSchema>, options?: Schema) {
    const names = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!))
    const required = names.length > 0 && { required: names }
    return make('Object', { type: 'object', ...required, properties, ...options })
  },
  Optional(schema: TSchema) {
    const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
    return hide(copy, OPTIONAL, true)
  },
  /** Of any names; `values` is the schema of their values. */
  Record(_names: TSchema, values: TSchema, options?: Schema) {
    return make('Record', { type: 'object', patternProperties: { '^.*$': values }, ...options })
  },
  String: (options?: Schema) => make('String', { type: 'string', ...options }),
  Union: (anyOf: TSchema[], options?: Schema) => make('Union', { anyOf, ...options }),
  Unknown: (options?: Schema) => make('Unknown', { ...options }),
  Unsafe: (schema: TSchema) => schema,
} as unknown as Pick<typeof Typebox, Kinds>

/** The kind is for the functions of typebox. */
function make(kind: Kinds, schema: Schema): Schema {
  return hide(schema, '~kind', kind)
}

/** Adds a property that is no part of the JSON Schema. */
function hide<T extends object>(schema: T, name: string, value: unknown): T {
  return Object.defineProperty(schema, name, { value, configurable: true })
}
