/**
 * Notifications of receivers: where they go, how they are signed, what is pending and what was
 * sent. The transaction of an event writes its delivery as a row, which stays until its log entry
 * expires.
 */
export const statements = [
  `create table endpoints (
    id text primary key,
    account text not null,
    kind text not null,
    url text not null,
    events text,
    source text not null,
    name text,
    created_at bigint not null,
    failing_since bigint,
    last_failure text,
    last_failure_at bigint,
    last_success_at bigint,
    disabled_at bigint,
    disabled_reason text
  )`,
  `create index endpoints_by_account on endpoints (account, kind, created_at)`,
  `create table signing_secrets (
    id text primary key,
    account text not null,
    endpoint_id text,
    secret text not null,
    created_at bigint not null,
    expires_at bigint
  )`,
  `create index signing_secrets_by_account on signing_secrets (account)`,
  `create table deliveries (
    id text primary key,
    account text not null,
    job_id text,
    endpoint_id text not null,
    seq bigint not null,
    kind text not null,
    event text not null,
    method text not null,
    url text not null,
    body text,
    body_object text,
    state text not null,
    reason text,
    tries integer not null default 0,
    attempts integer not null default 0,
    created_at bigint not null,
    next_at bigint,
    ended_at bigint
  )`,
  // A receiver gets an event once, however often it is recorded.
  `create unique index deliveries_by_job on deliveries (job_id, endpoint_id, seq)
    where job_id is not null`,
  // The first of each sequence (the deliveries of one job to one endpoint) is due, the others wait
  // for it.
  `create unique index deliveries_head on deliveries (job_id, endpoint_id)
    where state = 'due' and job_id is not null`,
  `create index deliveries_due on deliveries (endpoint_id, next_at, created_at, account)
    where state = 'due'`,
  `create index deliveries_pending on deliveries (endpoint_id, job_id, seq, kind, state)
    where state = 'due' or state = 'waiting'`,
  `create index deliveries_by_time on deliveries (account, created_at desc, seq desc, id desc, state)`,
  `create index deliveries_by_endpoint on deliveries (endpoint_id, created_at desc, seq desc, id desc, state)`,
  `create index deliveries_failed on deliveries (account, job_id, endpoint_id, seq, ended_at)
    where state = 'failed'`,
  `create index deliveries_by_end on deliveries (ended_at) where ended_at is not null`,
  `create index deliveries_by_object on deliveries (body_object) where body_object is not null`,
  `create table delivery_attempts (
    delivery_id text not null,
    number integer not null,
    at bigint not null,
    ms integer not null,
    status integer,
    error text,
    request_headers text not null,
    response_headers text,
    response_body text,
    primary key (delivery_id, number)
  ) without rowid`,
]
