/**
 * Jobs, files and keys. Written in the subset that SQLite and PostgreSQL share: `bigint` and
 * `double precision` have the affinities of INTEGER and REAL in SQLite.
 */
export const statements = [
  `create table files (
    id text primary key,
    account text not null,
    filename text,
    source text,
    extension text not null,
    size bigint not null,
    duration double precision,
    channels integer,
    created_at bigint not null
  )`,
  `create index files_by_age on files (created_at)`,
  `create table jobs (
    id text primary key,
    account text not null,
    kind text not null,
    status text not null,
    created_at bigint not null,
    completed_at bigint,
    custom_metadata text,
    error_code integer,
    post_session_metadata text not null default '{}',
    request_params text,
    file_id text,
    file_filename text,
    file_source text,
    file_duration double precision,
    file_channels integer,
    result text,
    result_object text,
    attempt integer not null default 0,
    interruptions integer not null default 0,
    lease_owner text,
    lease_epoch integer not null default 0,
    lease_until bigint,
    run_after bigint not null,
    priority integer not null default 0,
    progress_stage text,
    progress_fraction double precision,
    progress_seconds_left double precision
  )`,
  // Pages of a list, deep ones too, are read from these two indexes alone; see job-lists.ts.
  `create index jobs_by_time on jobs (account, created_at desc, id desc)`,
  `create index jobs_by_kind on jobs (account, kind, created_at desc, id desc)`,
  // The queue reads only jobs that have not ended, however many jobs are kept.
  `create index jobs_active on jobs (kind, status, account, run_after)
    where status = 'queued' or status = 'processing'`,
  `create index jobs_by_file on jobs (file_id) where file_id is not null`,
  `create index jobs_by_result_object on jobs (result_object) where result_object is not null`,
  `create table keys (
    hash text primary key,
    account text not null,
    prefix text not null,
    created_at bigint not null
  )`,
]
