import type { TSchema } from 'typebox'
import { Type } from '../common/type.ts'
import { Nullable, Seconds } from '../common/values.ts'

/** Why an add-on has no result. */
export const AddOnError = Type.Object(
  {
    status_code: Type.Integer(),
    exception: Type.String({ description: 'A short name' }),
    message: Type.String(),
  },
  { title: 'AddOnError' },
)

/** Where words that a response quotes were spoken. */
const Source = Type.Object(
  {
    text: Type.String({ description: 'The quotation, as the answer has it' }),
    start: Seconds,
    end: Seconds,
    channel: Type.Integer({ minimum: 0 }),
  },
  {
    title: 'Source',
    description: 'The first place where the words that an answer quotes were spoken',
  },
)

/**
 * Defines the envelope of an add-on result that quotes the recording; it becomes the component
 * NAME + `Result`.
 */
export function quotingResult<T extends TSchema>(name: string, results: T) {
  return Type.Object(
    {
      ...envelope(results),
      sources: Type.Optional(Type.Array(Source, { description: 'An extension' })),
    },
    { title: `${name}Result` },
  )
}

/** Defines the envelope of every add-on result; it becomes the component NAME + `Result`. */
export function addOnResult<T extends TSchema>(name: string, results: T) {
  return Type.Object(envelope(results), { title: `${name}Result` })
}

function envelope<T extends TSchema>(results: T) {
  return {
    success: Type.Boolean(),
    is_empty: Type.Boolean({ description: 'True if nothing was found or the request failed' }),
    exec_time: Seconds,
    error: Nullable(AddOnError),
    results,
  }
}
