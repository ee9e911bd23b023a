/** Returns the SQL that adds bytes to what an account stores. */
function add(account: string, bytes: string): string {
  return `insert into account_bytes (account, bytes) values (${account}, ${bytes})
    on conflict (account) do update set bytes = account_bytes.bytes + excluded.bytes;`
}

/**
 * Corrections of transcripts: there is a row for each version of the transcript of a job, and its
 * bytes count for the account. Also adds links that show a job to anyone who has them, by the hash
 * of their secret.
 */
export const statements = [
  `create table transcript_edits (
    job_id text not null,
    version integer not null,
    account text not null,
    created_at integer not null,
    key_name text,
    restored integer,
    operations integer not null,
    changes text not null,
    primary key (job_id, version)
  ) without rowid`,
  `create trigger bytes_of_new_edits after insert on transcript_edits
    begin ${add('new.account', 'octet_length(new.changes)')} end`,
  `create trigger bytes_of_old_edits after delete on transcript_edits
    begin ${add('old.account', '-octet_length(old.changes)')} end`,
  `create table shares (
    hash text not null primary key,
    id text not null,
    account text not null,
    job_id text not null,
    created_at integer not null,
    expires_at integer not null,
    is_edited integer not null,
    key_name text
  ) without rowid`,
  `create index shares_by_job on shares (job_id)`,
  `create index shares_by_end on shares (expires_at)`,
]
