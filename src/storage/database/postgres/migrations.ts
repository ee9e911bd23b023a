/** The statements of each version after the first schema; a released version never changes. */

import { byteTrigger, TEXT, VACUUM } from './schema.ts'

const NOW = `(extract(epoch from clock_timestamp()) * 1000)::bigint`

/**
 * Returns the statements that create a trigger, which records in `events` what happens to jobs or
 * deliveries. `tx` is the number of the transaction: readers leave out events that a running
 * transaction could still precede.
 */
function eventTrigger(
  name: string,
  { event, condition, values }: { event: string; condition?: string; values: string },
): string[] {
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin
      insert into events (account, kind, job_id, delivery_id, status, at)
        values (${values}, ${NOW});
      return null;
    end $$`,
    `create trigger ${name} after ${event} for each row ${condition ? `when (${condition})` : ''}
      execute function ${name}()`,
  ]
}

const events = [
  `create table events (
    seq bigint generated always as identity primary key,
    tx bigint not null default pg_current_xact_id()::text::bigint,
    account ${TEXT} not null,
    kind ${TEXT} not null,
    job_id ${TEXT},
    delivery_id ${TEXT},
    status ${TEXT} not null,
    at bigint not null
  )`,
  `create index events_in_order on events (tx, seq)`,
  `create index events_by_age on events (at)`,
  ...eventTrigger('event_of_new_job', {
    event: 'insert on jobs',
    values: 'new.account, new.kind, new.id, null, new.status',
  }),
  ...eventTrigger('event_of_job', {
    event: 'update of status on jobs',
    condition: 'new.status <> old.status',
    values: 'new.account, new.kind, new.id, null, new.status',
  }),
  ...eventTrigger('event_of_old_job', {
    event: 'delete on jobs',
    values: `old.account, old.kind, old.id, null, 'deleted'`,
  }),
  ...eventTrigger('event_of_delivery', {
    event: 'update of state on deliveries',
    condition: `new.state <> old.state and new.state in ('delivered', 'failed')`,
    values: `new.account, 'delivery', new.job_id, new.id, new.state`,
  }),
]

/**
 * The audio and the log of open live sessions, in parts: a node that takes a session over reads
 * them in order. `seq` counts from 0 without gaps, so that only one of two writers can continue.
 */
const liveBatches = [
  `create table live_batches (
    job_id ${TEXT} not null,
    seq integer not null,
    writer ${TEXT} not null,
    audio bytea not null,
    log bytea not null,
    primary key (job_id, seq)
  )`,
  // PostgreSQL cannot compress audio well, and each attempt costs time.
  `alter table live_batches alter column audio set storage external`,
]

/**
 * The index of utterances for searches: see `0014-search.ts`, which creates the same for SQLite.
 */
const search = [
  `create table search_queue (
    job_id ${TEXT} primary key references jobs (id) on delete cascade
  )`,
  `insert into search_queue select id from jobs where status = 'done'`,
  `create table search_languages (
    account ${TEXT} not null,
    language ${TEXT} not null,
    primary key (account, language)
  )`,
  `create table utterances (
    id bigint generated always as identity primary key,
    job_id ${TEXT} not null references jobs (id) on delete cascade,
    n integer not null,
    start double precision not null,
    "end" double precision not null,
    channel integer not null,
    speaker integer,
    language ${TEXT} not null,
    text ${TEXT} not null,
    terms tsvector not null,
    unique (job_id, n)
  ) with (${VACUUM})`,
  `create index utterances_by_term on utterances using gin (terms)`,
  `create function queue_for_search() returns trigger language plpgsql as $$ begin
    insert into search_queue values (new.id) on conflict do nothing;
    return null;
  end $$`,
  `create trigger search_new_job after insert on jobs
    for each row when (new.status = 'done') execute function queue_for_search()`,
  `create trigger search_done_job after update of status on jobs for each row
    when (new.status = 'done' and old.status <> 'done') execute function queue_for_search()`,
]

const transcriptEdits = [
  `create table transcript_edits (
    job_id ${TEXT} not null,
    version integer not null,
    account ${TEXT} not null,
    created_at bigint not null,
    key_name ${TEXT},
    restored integer,
    operations integer not null,
    changes ${TEXT} not null,
    primary key (job_id, version)
  )`,
  ...byteTrigger('bytes_of_new_edits', {
    event: 'insert on transcript_edits',
    account: 'new.account',
    bytes: 'octet_length(new.changes)',
  }),
  ...byteTrigger('bytes_of_old_edits', {
    event: 'delete on transcript_edits',
    account: 'old.account',
    bytes: '-octet_length(old.changes)',
  }),
  `create table shares (
    hash ${TEXT} primary key,
    id ${TEXT} not null,
    account ${TEXT} not null,
    job_id ${TEXT} not null,
    created_at bigint not null,
    expires_at bigint not null,
    is_edited integer not null,
    key_name ${TEXT}
  )`,
  `create index shares_by_job on shares (job_id)`,
  `create index shares_by_end on shares (expires_at)`,
]

/** See the migration of the same name of SQLite. */
const usage = [
  `alter table jobs add column key_id ${TEXT}`,
  `create table usage (
    account ${TEXT} not null,
    measure ${TEXT} not null,
    day bigint not null,
    key_id ${TEXT} not null,
    kind ${TEXT} not null,
    amount bigint not null,
    primary key (account, measure, day, key_id, kind)
  ) with (fillfactor = 70, ${VACUUM})`,
]

/** See the migration of the same name of SQLite. */
const auditLog = [
  `create table audit_log (
    id ${TEXT} primary key,
    at bigint not null,
    action ${TEXT} not null,
    source ${TEXT} not null,
    account ${TEXT},
    subject ${TEXT},
    key_id ${TEXT},
    address ${TEXT},
    details ${TEXT} not null
  )`,
  `create index audit_log_by_time on audit_log (at desc, id desc)`,
]

/** See the migration of the same name of SQLite. */
const zeroRetention = [
  `alter table jobs add column zero_retention integer not null default 0`,
  `alter table jobs add column delivered_at bigint`,
  `create index jobs_zero_retention on jobs (completed_at)
    where zero_retention = 1 and completed_at is not null`,
]

/** See the migration of the same name of SQLite. */
const objectKeys = [`create table object_keys (id text primary key, used_at bigint not null)`]

/** What the first databases with `transcriptEdits` lack, as `0020-early-databases.ts` explains. */
const earlyDatabases = [
  `create table if not exists shares (
    hash ${TEXT} primary key,
    id ${TEXT} not null,
    account ${TEXT} not null,
    job_id ${TEXT} not null,
    created_at bigint not null,
    expires_at bigint not null,
    is_edited integer not null,
    key_name ${TEXT}
  )`,
  `create index if not exists shares_by_job on shares (job_id)`,
  `create index if not exists shares_by_end on shares (expires_at)`,
]

/** See the migration of the same name of SQLite. */
const speakerNames = [
  `alter table utterances add column speaker_name ${TEXT}`,
  `create index utterances_by_speaker on utterances (job_id, speaker, language)`,
  `insert into search_queue select distinct job_id from transcript_edits
    on conflict do nothing`,
]

/** See the migration of the same name of SQLite. */
const requestWarnings = [`alter table jobs add column request_warnings ${TEXT}`]

/** The statements of each later version. They are never edited or reordered. */
export const laterVersions: readonly (readonly string[])[] = [
  [
    `create table sign_ins (
      hash ${TEXT} primary key,
      kind ${TEXT} not null,
      key_hash ${TEXT} not null,
      expires_at bigint not null
    )`,
    `create index sign_ins_by_key on sign_ins (key_hash)`,
  ],
  events,
  [
    `alter table owners add column url ${TEXT}, add column state ${TEXT} not null default '{}'`,
    ...liveBatches,
  ],
  search,
  usage,
  transcriptEdits,
  auditLog,
  zeroRetention,
  objectKeys,
  earlyDatabases,
  speakerNames,
  requestWarnings,
]
