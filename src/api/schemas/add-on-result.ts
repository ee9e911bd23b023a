import type { TSchema } from 'typebox'
import { Type } from './type.ts'
import { Nullable, Seconds } from './values.ts'

/** Why an add-on has no result. */
export const AddOnError = Type.Object(
  {
    status_code: Type.Integer(),
    exception: Type.String({ description: 'A short name' }),
    message: Type.String(),
  },
  { title: 'AddOnError' },
)

/**
 * Defines the envelope of every add-on result (contract 4.5); it becomes the component
 * `nameResult`.
 */
export function addOnResult<T extends TSchema>(name: string, results: T) {
  return Type.Object(
    {
      success: Type.Boolean(),
      is_empty: Type.Boolean({ description: 'Nothing was found, or nothing could be done' }),
      exec_time: Seconds,
      error: Nullable(AddOnError),
      results,
    },
    { title: `${name}Result` },
  )
}
