import { type Kysely, sql } from 'kysely'

/**
 * Some migrations were edited in the first days of the project, after databases had been created
 * with them. This adds what those databases lack; others have it already.
 */
export const statements = [
  // 0014
  `drop trigger search_old_job`,
  `create trigger search_old_job after delete on jobs begin
    insert into search_queue select old.id where exists
      (select 1 from utterances where job_id = old.id) on conflict do nothing;
    delete from search_queue where job_id = old.id and not exists
      (select 1 from utterances where job_id = old.id);
  end`,
  // 0016
  `create table if not exists shares (
    hash text not null primary key,
    id text not null,
    account text not null,
    job_id text not null,
    created_at integer not null,
    expires_at integer not null,
    is_edited integer not null,
    key_name text
  ) without rowid`,
  `create index if not exists shares_by_job on shares (job_id)`,
  `create index if not exists shares_by_end on shares (expires_at)`,
]

/** Indexes that were created with fewer columns, and a column that such an index lacks. */
const indexes = [
  // 0003
  {
    name: 'jobs_by_time',
    column: 'status',
    create: 'create index jobs_by_time on jobs (account, created_at desc, id desc, status)',
  },
  {
    name: 'jobs_by_kind',
    column: 'status',
    create: 'create index jobs_by_kind on jobs (account, kind, created_at desc, id desc, status)',
  },
  // 0005
  {
    name: 'deliveries_failed',
    column: 'seq',
    create: `create index deliveries_failed on deliveries (account, job_id, endpoint_id, seq, ended_at)
    where state = 'failed'`,
  },
]

/** Adds what only some databases lack: a large index is not created again where it is right. */
export async function fill<T>(tx: Kysely<T>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from pragma_table_info('endpoints')`.execute(tx)
  if (!rows.some(({ name }) => name === 'last_failure_at')) {
    await sql`alter table endpoints add column last_failure_at bigint`.execute(tx)
  }
  for (const { name, column, create } of indexes) {
    const existingColumns = await sql<{ name: string }>`
      select name from pragma_index_info(${name})`.execute(tx)
    if (existingColumns.rows.some((row) => row.name === column)) continue
    await sql`drop index if exists ${sql.ref(name)}`.execute(tx)
    await sql.raw(create).execute(tx)
  }
}
