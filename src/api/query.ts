import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { problemsError, readFields } from './validation.ts'

type QuerySchema = { properties: Record<string, { type?: string }> }

/**
 * Makes the framework read query parameters by their schema; paths and bodies pass, since whoever
 * looks an id up or reads a body judges them. Parameters that no schema names are ignored.
 */
export const compileQueryReader: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart !== 'querystring') return () => true
  return (query) => {
    const given = parseNumbers(query as Record<string, unknown>, schema as unknown as QuerySchema)
    const { value, problems } = readFields(schema, given, { unknownFields: 'ignore' })
    const error = problemsError(problems)
    return error ? { error } : { value }
  }
}

/** A query holds text; an empty one counts as not given, and what is no number stays text, for the reader to refuse. */
function parseNumbers(
  query: Record<string, unknown>,
  { properties }: QuerySchema,
): Record<string, unknown> {
  const given = Object.entries(query).filter(([, text]) => text !== '')
  return Object.fromEntries(
    given.map(([name, text]) => {
      const isNumber = properties[name]?.type === 'integer' && /^-?\d+$/.test(String(text))
      return [name, isNumber ? Number(text) : text]
    }),
  )
}
