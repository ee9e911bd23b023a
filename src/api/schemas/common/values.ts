import type { TSchema } from 'typebox'
import { MAX_DATE_TIME_CHARS } from './limits.ts'
import { Type } from './type.ts'

/** Defines an object with arbitrary keys. */
export function FreeObject(description?: string, bounds: RecordBounds = {}) {
  const text = description === undefined ? {} : { description }
  return Type.Record(Type.String(), Type.Unknown(), { ...text, ...bounds })
}

/** Limits on the number and length of an object's keys; their content is limited elsewhere. */
export type RecordBounds = { maxProperties?: number; propertyNames?: { maxLength: number } }

/** Defines a value that is always present, and null while it is unknown. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** Defines a choice of a few words. */
export function OneOf<const T extends readonly string[]>(...words: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: words })
}

/** A lower-case UUID of version 4. */
export const Uuid = Type.String({ format: 'uuid' })

/** An absolute URL. */
export const Uri = Type.String({ format: 'uri' })

/** A wall-clock time. */
export const DateTime = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, with milliseconds',
})

/** Defines a date or a date-time of a request. */
export function DateOrDateTime(description: string) {
  const bounds = { maxLength: MAX_DATE_TIME_CHARS }
  return Type.String({ format: 'date-or-date-time', ...bounds, description })
}

/** A time or a duration. */
export const Seconds = Type.Number({ minimum: 0, description: 'Seconds' })

/**
 * A language code in a response. Its values are not enumerated, because older jobs may have codes
 * that are no longer configured.
 */
export const Language = Type.String({ description: 'A language code, such as `en`' })
