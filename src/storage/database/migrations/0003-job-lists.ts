import { type Kysely, sql } from 'kysely'
import { metadataTokens } from '../../jobs/lists/metadata-tokens.ts'
import type { FillOptions } from '../sqlite/migration-progress.ts'

/**
 * The indexes that lists are searched by. `job_metadata` is an inverted index of `custom_metadata`:
 * a row per key of a job, under a token that stands for account, key and value, see
 * `metadata-tokens.ts`.
 */
export const statements = [
  // Ending with the status, these contain all that a filter by several statuses needs.
  `drop index jobs_by_time`,
  `drop index jobs_by_kind`,
  `create index jobs_by_time on jobs (account, created_at desc, id desc, status)`,
  `create index jobs_by_kind on jobs (account, kind, created_at desc, id desc, status)`,
  `create index jobs_by_status on jobs (account, kind, status, created_at desc, id desc)`,
  // Retention deletes by this index; it contains only jobs that have ended.
  `create index jobs_by_end on jobs (completed_at) where completed_at is not null`,
  `create table job_metadata (
    token blob not null,
    created_at bigint not null,
    id text not null,
    kind text not null,
    primary key (token, created_at desc, id desc)
  ) without rowid`,
  `create table idempotency_keys (
    account text not null,
    key text not null,
    fingerprint text not null,
    job_id text not null,
    created_at bigint not null,
    primary key (account, key)
  ) without rowid`,
  `create index idempotency_keys_by_age on idempotency_keys (created_at)`,
]

type Described = { id: string; account: string; kind: string; created_at: number; metadata: string }

/** Jobs in memory at a time. */
const BATCH = 500
/** Rows per statement: with a statement per row, these took most of the time of a large store. */
const ROWS_PER_INSERT = 200

/** Indexes the existing jobs by their metadata. */
export async function fill<T>(tx: Kysely<T>, { signal, onProgress }: FillOptions): Promise<void> {
  let done = 0
  for (let after = ''; ; ) {
    const { rows } = await sql<Described>`
      select id, account, kind, created_at, custom_metadata as metadata from jobs
      where id > ${after} and custom_metadata is not null order by id limit ${BATCH}`.execute(tx)
    const indexed = rows.flatMap(({ id, account, kind, created_at, metadata }) => {
      const tokens = metadataTokens(account, JSON.parse(metadata))
      return tokens.map((token) => sql`(${token}, ${created_at}, ${id}, ${kind})`)
    })
    for (let i = 0; i < indexed.length; i += ROWS_PER_INSERT) {
      signal?.throwIfAborted()
      const values = sql.join(indexed.slice(i, i + ROWS_PER_INSERT))
      await sql`insert into job_metadata (token, created_at, id, kind) values ${values}`.execute(tx)
    }
    done += rows.length
    onProgress?.(done)
    if (rows.length < BATCH) return
    after = rows.at(-1)!.id
  }
}
