import Type, { type TSchema } from 'typebox'

/** An object whose keys are not ours to name. */
export function FreeObject(description?: string, bounds: RecordBounds = {}) {
  const text = description === undefined ? {} : { description }
  return Type.Record(Type.String(), Type.Unknown(), { ...text, ...bounds })
}

/** How many keys an object may have, and how long they may be; what they hold is bounded elsewhere. */
export type RecordBounds = { maxProperties?: number; propertyNames?: { maxLength: number } }

/** A value that is always there, null while it is not known. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** One of a few words. */
export function OneOf<const T extends readonly string[]>(...words: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: words })
}

/** A lower-case UUID of version 4. */
export const Uuid = Type.String({ format: 'uuid' })

/** An absolute address. */
export const Uri = Type.String({ format: 'uri' })

/** A moment of the wall clock. */
export const DateTime = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, with milliseconds',
})

/** A time or a duration. */
export const Seconds = Type.Number({ minimum: 0, description: 'Seconds' })

/** A code of contract 1.6. Not enumerated in answers: older jobs may hold codes that are no longer configured. */
export const Language = Type.String({ description: 'A language code, such as `en`' })
