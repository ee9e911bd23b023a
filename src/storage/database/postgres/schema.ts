/**
 * The first schema, which equals the sum of SQLite's first ten versions. `migrations.ts` has the
 * later ones.
 */

const TEXTS = ['request_params', 'custom_metadata', 'post_session_metadata', 'result']

/** Returns the SQL for the bytes of a job's texts and objects, in the row that `row` names. */
function jobBytes(row: 'new' | 'old'): string {
  return [
    ...TEXTS.map((column) => `coalesce(octet_length(${row}.${column}), 0)`),
    `coalesce(${row}.result_size, 0)`,
    `coalesce(${row}.redacted_size, 0)`,
  ].join(' + ')
}

/**
 * Returns the statements that create a trigger, which records a change of what an account stores in
 * the transaction of the row that causes it.
 */
export function byteTrigger(
  name: string,
  { event, account, bytes }: { event: string; account: string; bytes: string },
): string[] {
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin
      insert into account_byte_changes (account, bytes) values (${account}, ${bytes});
      return null;
    end $$`,
    `create trigger ${name} after ${event}
      for each row when ((${bytes}) <> 0) execute function ${name}()`,
  ]
}

/** Texts are compared byte by byte, as in SQLite, whatever the locale of the database. */
export const TEXT = 'text collate "C"'
/** Searches read only indexes as long as vacuuming keeps up with new rows. */
export const VACUUM = 'autovacuum_vacuum_insert_scale_factor = 0.02'

const jobs = [
  `create table files (
    id ${TEXT} primary key,
    account ${TEXT} not null,
    filename ${TEXT},
    source ${TEXT},
    extension ${TEXT} not null,
    size bigint not null,
    duration double precision,
    channels integer,
    created_at bigint not null
  )`,
  `create index files_by_age on files (created_at)`,
  `create table jobs (
    id ${TEXT} primary key,
    account ${TEXT} not null,
    kind ${TEXT} not null,
    status ${TEXT} not null,
    created_at bigint not null,
    completed_at bigint,
    custom_metadata ${TEXT},
    error_code integer,
    post_session_metadata ${TEXT} not null default '{}',
    request_params ${TEXT},
    file_id ${TEXT},
    file_filename ${TEXT},
    file_source ${TEXT},
    file_duration double precision,
    file_channels integer,
    result ${TEXT},
    result_object ${TEXT},
    result_size bigint,
    redacted_object ${TEXT},
    redacted_size bigint,
    attempt integer not null default 0,
    interruptions integer not null default 0,
    lease_owner ${TEXT},
    lease_epoch integer not null default 0,
    lease_until bigint,
    run_after bigint not null,
    storage_wait_since bigint,
    priority integer not null default 0,
    progress_stage ${TEXT},
    progress_fraction double precision,
    progress_seconds_left double precision
  ) with (fillfactor = 85, ${VACUUM})`,
  `create index jobs_by_time on jobs (account, created_at desc, id desc, status)`,
  `create index jobs_by_kind on jobs (account, kind, created_at desc, id desc, status)`,
  `create index jobs_by_status on jobs (account, kind, status, created_at desc, id desc)`,
  `create index jobs_active on jobs (kind, status, account, run_after)
    where status = 'queued' or status = 'processing'`,
  `create index jobs_by_end on jobs (completed_at) where completed_at is not null`,
  `create index jobs_by_file on jobs (file_id) where file_id is not null`,
  `create index jobs_by_result_object on jobs (result_object) where result_object is not null`,
  `create index jobs_by_redacted_object on jobs (redacted_object)
    where redacted_object is not null`,
  `create table job_metadata (
    token bytea not null,
    created_at bigint not null,
    id ${TEXT} not null,
    kind ${TEXT} not null
  ) with (${VACUUM})`,
  // Unique, and with the kind, so that a search reads no row.
  `create unique index job_metadata_by_token on job_metadata
    (token, created_at desc, id desc) include (kind)`,
  `create table idempotency_keys (
    account ${TEXT} not null,
    key ${TEXT} not null,
    fingerprint ${TEXT} not null,
    job_id ${TEXT} not null,
    created_at bigint not null,
    primary key (account, key)
  )`,
  `create index idempotency_keys_by_age on idempotency_keys (created_at)`,
  `create table live_sessions (
    job_id ${TEXT} primary key,
    token ${TEXT} not null unique,
    created_at bigint not null,
    ended_at bigint,
    key_hash ${TEXT}
  )`,
  `create index live_sessions_by_end on live_sessions (ended_at) where ended_at is not null`,
  // There is a row for each change, and the rows are summed up now and then, so that transactions
  // of one account do not wait for each other.
  `create table account_byte_changes (
    account ${TEXT} not null,
    bytes bigint not null
  )`,
  `create view account_bytes as
    select account, cast(sum(bytes) as bigint) as bytes from account_byte_changes group by account`,
  ...byteTrigger('bytes_of_new_file', {
    event: 'insert on files',
    account: 'new.account',
    bytes: 'new.size',
  }),
  ...byteTrigger('bytes_of_old_file', {
    event: 'delete on files',
    account: 'old.account',
    bytes: '-old.size',
  }),
  ...byteTrigger('bytes_of_new_job', {
    event: 'insert on jobs',
    account: 'new.account',
    bytes: jobBytes('new'),
  }),
  ...byteTrigger('bytes_of_old_job', {
    event: 'delete on jobs',
    account: 'old.account',
    bytes: `-(${jobBytes('old')})`,
  }),
  ...byteTrigger('bytes_of_job', {
    event: `update of ${TEXTS.join()}, result_size, redacted_size on jobs`,
    account: 'new.account',
    bytes: `${jobBytes('new')} - (${jobBytes('old')})`,
  }),
]

const keys = [
  `create table keys (
    hash ${TEXT} primary key,
    account ${TEXT} not null,
    prefix ${TEXT} not null,
    created_at bigint not null,
    name ${TEXT},
    scopes ${TEXT} not null default 'read,write,live',
    expires_at bigint,
    last_used_at bigint
  )`,
  `create table owners (
    id ${TEXT} primary key,
    started_at bigint not null,
    heartbeat_at bigint not null,
    host ${TEXT} not null,
    pid integer not null
  )`,
]

const deliveries = [
  `create table endpoints (
    id ${TEXT} primary key,
    account ${TEXT} not null,
    kind ${TEXT} not null,
    url ${TEXT} not null,
    events ${TEXT},
    source ${TEXT} not null,
    name ${TEXT},
    created_at bigint not null,
    failing_since bigint,
    last_failure ${TEXT},
    last_failure_at bigint,
    last_success_at bigint,
    disabled_at bigint,
    disabled_reason ${TEXT}
  ) with (fillfactor = 70)`,
  `create index endpoints_by_account on endpoints (account, kind, created_at)`,
  `create table signing_secrets (
    id ${TEXT} primary key,
    account ${TEXT} not null,
    endpoint_id ${TEXT},
    secret ${TEXT} not null,
    created_at bigint not null,
    expires_at bigint
  )`,
  `create index signing_secrets_by_account on signing_secrets (account)`,
  `create table deliveries (
    id ${TEXT} primary key,
    account ${TEXT} not null,
    job_id ${TEXT},
    endpoint_id ${TEXT} not null,
    seq bigint not null,
    kind ${TEXT} not null,
    event ${TEXT} not null,
    method ${TEXT} not null,
    url ${TEXT} not null,
    body ${TEXT},
    body_object ${TEXT},
    state ${TEXT} not null,
    reason ${TEXT},
    tries integer not null default 0,
    attempts integer not null default 0,
    created_at bigint not null,
    next_at bigint,
    ended_at bigint,
    lease_owner ${TEXT},
    lease_epoch bigint not null default 0,
    lease_until bigint
  )`,
  `create unique index deliveries_by_job on deliveries (job_id, endpoint_id, seq)
    where job_id is not null`,
  `create unique index deliveries_head on deliveries (job_id, endpoint_id)
    where state = 'due' and job_id is not null`,
  `create index deliveries_due on deliveries (endpoint_id, next_at, created_at, account)
    where state = 'due'`,
  `create index deliveries_pending on deliveries (endpoint_id, job_id, seq, kind, state)
    where state = 'due' or state = 'waiting'`,
  `create index deliveries_by_time on deliveries (account, created_at desc, seq desc, id desc, state)`,
  `create index deliveries_by_endpoint on deliveries
    (endpoint_id, created_at desc, seq desc, id desc, state)`,
  `create index deliveries_failed on deliveries (account, job_id, endpoint_id, seq, ended_at)
    where state = 'failed'`,
  `create index deliveries_by_end on deliveries (ended_at) where ended_at is not null`,
  `create index deliveries_by_object on deliveries (body_object) where body_object is not null`,
  `create table delivery_attempts (
    delivery_id ${TEXT} not null,
    number integer not null,
    at bigint not null,
    ms integer not null,
    status integer,
    error ${TEXT},
    request_headers ${TEXT} not null,
    response_headers ${TEXT},
    response_body ${TEXT},
    primary key (delivery_id, number)
  )`,
]

/** The version that `firstSchema` creates: versions count like those of SQLite. */
export const FIRST_VERSION = 10

/** The statements of the first version. */
export const firstSchema: readonly string[] = [...jobs, ...keys, ...deliveries]
