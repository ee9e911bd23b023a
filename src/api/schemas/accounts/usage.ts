import type { Static } from 'typebox'
import { AnyOf, DateFilter, OtherAccount } from '../common/list-query.ts'
import { Type } from '../common/type.ts'
import { DateTime, Nullable, OneOf, Seconds } from '../common/values.ts'

const groups = ['day', 'key', 'kind', 'account'] as const

/** Which usage to add up. */
export const UsageQuery = Type.Object({
  from: DateFilter('The first UTC day; by default the first of this month'),
  to: DateFilter('The last UTC day; by default today. At most 366 days in all'),
  by: AnyOf(groups, 'The fields to group by, separated by commas; `day` by default'),
  account: OtherAccount,
})

const Day = Type.String({ format: 'date', description: 'A UTC day' })
const Count = Type.Integer({ minimum: 0 })

const sums = {
  jobs: Type.Integer({ minimum: 0, description: 'Jobs and sessions that are done' }),
  failed_jobs: Type.Integer({ minimum: 0, description: 'Those that failed or were canceled' }),
  audio_duration: Seconds,
  billing_time: Type.Number({ minimum: 0, description: 'Seconds times distinct channels' }),
  add_ons: Type.Record(Type.String(), Count, {
    description: 'For each add-on, the number of jobs with it',
  }),
  usage: Type.Object(
    { requests: Count, prompt_tokens: Count, completion_tokens: Count },
    { description: 'Tokens that language models used, as their providers count them' },
  ),
}

const UsageItem = Type.Object(
  {
    account: Type.Optional(Type.String()),
    day: Type.Optional(Day),
    key: Type.Optional(
      Nullable(Type.String({ description: 'The id of the key; null where it is not known' })),
    ),
    kind: Type.Optional(OneOf('pre-recorded', 'live')),
    ...sums,
  },
  { title: 'UsageItem', description: 'One total, with the fields by which it was grouped' },
)

/** The quotas of an account, and how much of them it has used. */
const Quotas = Type.Object(
  {
    month: Type.Object(
      {
        limit: Nullable(Type.Integer({ description: 'Seconds; null where there is no limit' })),
        used: Type.Number({ minimum: 0, description: 'The `billing_time` of this UTC month' }),
        in_progress: Type.Number({
          minimum: 0,
          description:
            'Seconds counted for jobs that have not ended; a job of unknown length counts as ten minutes',
        }),
        resets_at: DateTime,
      },
      { description: 'Set by `STENO_ACCOUNT_MAX_SECONDS_PER_MONTH`' },
    ),
    tokens: Type.Object(
      {
        limit: Nullable(Type.Integer({ description: 'Null where there is no limit' })),
        used: Type.Integer({
          minimum: 0,
          description: 'Tokens that language models used this UTC month, for jobs that have ended',
        }),
        resets_at: DateTime,
      },
      { description: 'Set by `STENO_ACCOUNT_MAX_TOKENS_PER_MONTH`' },
    ),
    storage: Type.Object(
      {
        limit: Nullable(Type.Integer({ description: 'Bytes; null where there is no limit' })),
        used: Type.Integer({ minimum: 0, description: 'Bytes' }),
      },
      { description: 'Set by `STENO_ACCOUNT_MAX_BYTES`' },
    ),
  },
  { title: 'Quotas' },
)

/** The usage of an account or of all accounts, and the quotas of the account. */
export const UsageReport = Type.Object(
  {
    from: Day,
    to: Day,
    by: Type.Array(OneOf(...groups)),
    items: Type.Array(UsageItem),
    total: Type.Object(sums),
    quotas: Nullable(Quotas),
  },
  { title: 'UsageReport' },
)

/** The response of the route. */
export type UsageReport = Static<typeof UsageReport>
