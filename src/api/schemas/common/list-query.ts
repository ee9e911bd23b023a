import type { Static, TSchema } from 'typebox'
import {
  MAX_METADATA_KEY_CHARS,
  MAX_METADATA_KEYS,
  MAX_NAME_CHARS,
  MAX_QUERY_VALUES,
} from './limits.ts'
import { Type } from './type.ts'
import { DateOrDateTime, FreeObject, Nullable, Uri } from './values.ts'

/** Defines a parameter that holds a date or a date-time. */
export function DateFilter(description: string) {
  return Type.Optional(DateOrDateTime(description))
}

/** The parameter that selects the resources of another account. */
export const OtherAccount = Type.Optional(
  Type.String({
    maxLength: MAX_NAME_CHARS,
    description:
      'Another account, or `*` for all accounts, which need a key with the scope `admin`; by default the account of the key',
  }),
)

/** Defines a parameter that lists some of `names`. */
export function AnyOf<T extends string>(names: readonly T[], description: string) {
  const Name = Type.Unsafe<T>({ type: 'string', enum: names })
  return Type.Optional(Type.Array(Name, { maxItems: MAX_QUERY_VALUES, description }))
}

/** Defines the parameters that select a page of a list of `things`. */
export function pageFields(things: string) {
  return {
    offset: Type.Integer({ minimum: 0, default: 0, description: `${things} to skip` }),
    limit: Type.Integer({
      minimum: 1,
      default: 20,
      description: `${things} per page; the server lowers a value above its limit to the limit`,
    }),
  }
}

/** Defines one page of a list: its items, and the URLs of the pages. */
export function listPageSchema<T extends TSchema>(Item: T, title: string) {
  return Type.Object(
    {
      first: Uri,
      current: Uri,
      next: Nullable(Type.String({ format: 'uri', description: 'Null on the last page' })),
      items: Type.Array(Item),
    },
    { title },
  )
}

/** The filters and the page of a list of jobs. */
const Query = Type.Object({
  ...pageFields('Jobs'),
  date: DateFilter('Jobs created on this UTC day'),
  before_date: DateFilter('Jobs created before this time'),
  after_date: DateFilter('Jobs created after this time'),
  status: AnyOf(['queued', 'processing', 'done', 'error'], 'Jobs in any of these states'),
  custom_metadata: Type.Optional(
    FreeObject(
      'Keys that a job must have, with their values: as JSON, or as `custom_metadata[key]=value`',
      { maxProperties: MAX_METADATA_KEYS, propertyNames: { maxLength: MAX_METADATA_KEY_CHARS } },
    ),
  ),
  results: Type.Optional(
    Type.Boolean({
      description: 'With `false`, `result` is null, which makes the list short. An extension',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      format: 'cursor',
      maxLength: MAX_NAME_CHARS,
      description: 'The place where the previous page ended; part of `next`',
    }),
  ),
})

/** The query of routes that list pre-recorded and live jobs together. */
const BothKindsQuery = Type.Object({
  ...Query.properties,
  kind: AnyOf(['pre-recorded', 'live'], 'Jobs of any of these kinds'),
})

/** The query of a list of jobs; only routes for both kinds have `kind`. */
export type ListQuery = Static<typeof BothKindsQuery>

/** Returns the query schema of the routes of one kind, or of both. */
export function listQueryOf(kind: 'pre-recorded' | 'live' | undefined) {
  return Type.Unsafe<ListQuery>(kind ? Query : BothKindsQuery)
}
