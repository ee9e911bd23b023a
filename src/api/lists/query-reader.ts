import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import {
  type FieldError,
  validateFields,
  validationError,
} from '../bodies/validation/validate-fields.ts'
import type { QueryValue } from './parse-query.ts'

type QuerySchema = { properties: Record<string, { type?: string }> }

/**
 * Makes Fastify read query parameters by their schema. Paths and bodies are not validated here, but
 * where ids are looked up and bodies are read. Parameters without a schema are ignored.
 */
export const compileQueryReader: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart !== 'querystring') return () => true
  const { properties } = schema as unknown as QuerySchema
  return (query) => {
    const presentParameters = Object.entries(query as Record<string, QueryValue>).flatMap(
      ([name, value]) => {
        const parsed = Object.hasOwn(properties, name)
          ? parseParameter(value, properties[name]?.type)
          : ''
        return parsed === '' ? [] : [[name, parsed]]
      },
    )
    const options = { unknownFields: 'ignore' } as const
    const { value, errors } = validateFields(schema, Object.fromEntries(presentParameters), options)
    const error = validationError(parameterErrors(errors))
    return error ? { error } : { value }
  }
}

/**
 * Returns one error for each parameter, without indexes, because the values may have been given
 * without them.
 */
function parameterErrors(errors: readonly FieldError[]): FieldError[] {
  const firstErrors = new Map<string, FieldError>()
  for (const { path, rule } of errors) {
    const name = path[0]!
    if (!firstErrors.has(name)) firstErrors.set(name, { path: [name], rule })
  }
  return [...firstErrors.values()]
}

/**
 * Parses the text of a parameter as a value of its type. An empty text means absent. A text that
 * cannot be parsed stays unchanged, so that the reader rejects it.
 */
function parseParameter(value: QueryValue, type: string | undefined): unknown {
  if (type === 'array') return toList(value)
  if (typeof value !== 'string' || value === '') return value
  if (type === 'integer') return /^-?\d+$/.test(value) ? toInteger(value) : value
  if (type === 'object') return parseJson(value)
  if (type === 'boolean') return /^(true|false)$/.test(value) ? value === 'true' : value
  return value
}

/** Parses an integer. One beyond the largest exact integer becomes that. */
function toInteger(digits: string): number {
  const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number
  return Math.max(MIN_SAFE_INTEGER, Math.min(Number(digits), MAX_SAFE_INTEGER))
}

/** Parses a list, which may be repeated parameters, or use brackets or commas. */
function toList(value: QueryValue): unknown {
  if (typeof value === 'object' && !Array.isArray(value)) {
    // `status[0]=done&status[1]=error`
    const isList = Object.keys(value).every((key, i) => key === String(i))
    return isList ? toList(Object.values(value)) : value
  }
  const items = [value].flat().flatMap((item): unknown[] => {
    return typeof item === 'string' ? item.split(',').filter((text) => text !== '') : [item]
  })
  return items.length === 0 ? '' : items
}

function parseJson(text: string): unknown {
  try {
    // JSON null would mean absent.
    return JSON.parse(text) ?? text
  } catch {
    return text
  }
}
