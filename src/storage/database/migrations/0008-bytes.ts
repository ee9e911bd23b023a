import { type Kysely, sql } from 'kysely'

/** Returns the SQL for the bytes of a job's texts and objects, in the row that `row` names. */
function jobBytes(row: 'new' | 'old' | 'jobs'): string {
  const texts = ['request_params', 'custom_metadata', 'post_session_metadata', 'result']
  return [
    ...texts.map((column) => `coalesce(octet_length(${row}.${column}), 0)`),
    `coalesce(${row}.result_size, 0)`,
    `coalesce(${row}.redacted_size, 0)`,
  ].join(' + ')
}

/** Returns the SQL that adds bytes to what an account stores. */
function add(account: string, bytes: string): string {
  return `insert into account_bytes (account, bytes) values (${account}, ${bytes})
    on conflict (account) do update set bytes = account_bytes.bytes + excluded.bytes;`
}

/**
 * What each account stores, in bytes: files, results, redacted recordings and data that came with
 * jobs. Triggers maintain it, so it changes in the transaction of the rows, whichever statement
 * that is. Also adds the size of a result that is an object, and since when a job has been waiting
 * for space.
 */
export const statements = [
  `alter table jobs add column result_size bigint`,
  `alter table jobs add column storage_wait_since bigint`,
  `create table account_bytes (
    account text primary key,
    bytes bigint not null
  ) without rowid`,
  `create trigger bytes_of_new_file after insert on files
    begin ${add('new.account', 'new.size')} end`,
  `create trigger bytes_of_old_file after delete on files
    begin ${add('old.account', '-old.size')} end`,
  `create trigger bytes_of_new_job after insert on jobs
    begin ${add('new.account', jobBytes('new'))} end`,
  `create trigger bytes_of_old_job after delete on jobs
    begin ${add('old.account', `-(${jobBytes('old')})`)} end`,
  `create trigger bytes_of_job after update of request_params, custom_metadata,
      post_session_metadata, result, result_size, redacted_size on jobs
    when ${jobBytes('new')} <> ${jobBytes('old')}
    begin ${add('new.account', `${jobBytes('new')} - (${jobBytes('old')})`)} end`,
]

/**
 * Counts existing data, except results that are objects: their sizes are read in the background
 * after the start.
 */
export async function fill<T>(tx: Kysely<T>): Promise<void> {
  await sql`insert into account_bytes (account, bytes)
    select account, sum(bytes) from (
      select account, size as bytes from files
      union all
      select account, ${sql.raw(jobBytes('jobs'))} as bytes from jobs
    ) as held group by account`.execute(tx)
}
