import type { Generated } from 'kysely'

/**
 * The columns as stored in the database; `migrations/` creates them. Times are milliseconds, JSON
 * is text.
 */
export type Tables = {
  jobs: JobRow
  files: FileRow
  keys: KeyRow
  sign_ins: SignInRow
  events: EventRow
  transcript_edits: TranscriptEditsRow
  shares: ShareRow
  idempotency_keys: IdempotencyRow
  live_sessions: LiveSessionRow
  endpoints: EndpointRow
  signing_secrets: SigningSecretRow
  deliveries: DeliveryRow
  delivery_attempts: DeliveryAttemptRow
  account_bytes: AccountBytesRow
  owners: OwnerRow
  search_queue: { job_id: string }
  search_languages: { account: string; language: string }
  utterances: UtteranceRow
  usage: UsageRow
  audit_log: AuditRow
  object_keys: { id: string; used_at: number }
  /** Only in PostgreSQL. */
  live_batches: LiveBatchRow
}

/**
 * A row of `jobs`. The table also has the column `priority`, which is always 0 and never read. It
 * stays, because SQLite writes the whole table again to drop a column, and because servers of an
 * older version on the same PostgreSQL database still read it.
 */
export type JobRow = {
  id: string
  account: string
  kind: 'pre-recorded' | 'live'
  status: 'queued' | 'processing' | 'done' | 'error'
  created_at: number
  completed_at: number | null
  custom_metadata: string | null
  error_code: number | null
  post_session_metadata: string
  request_params: string | null
  file_id: string | null
  file_filename: string | null
  file_source: string | null
  file_duration: number | null
  file_channels: number | null
  /**
   * The result itself, if it is small; otherwise `result_object` names the object that holds it.
   */
  result: string | null
  result_object: string | null
  /** The size of that object in bytes. */
  result_size: number | null
  /**
   * The redacted recording kept in place of the one that `file_id` names, and its size in bytes.
   */
  redacted_object: string | null
  redacted_size: number | null
  attempt: number
  /** How many times a server went down while it ran the job. */
  interruptions: number
  lease_owner: string | null
  lease_epoch: number
  lease_until: number | null
  run_after: number
  /** Since when the job has been waiting for disk space, over several attempts. */
  storage_wait_since: number | null
  progress_stage: string | null
  progress_fraction: number | null
  progress_seconds_left: number | null
  /** The id of the key that requested it; null if unknown. */
  key_id: string | null
  /** Whether the job and its data is deleted after its result has been delivered. */
  zero_retention: 0 | 1
  /** When the account read the result; set for zero-retention jobs only. */
  delivered_at: number | null
  /**
   * Warnings about the request, which the result repeats: a list as JSON; null if there are none.
   */
  request_warnings: string | null
}

/** A row of `files`. */
export type FileRow = {
  id: string
  account: string
  filename: string | null
  source: string | null
  extension: string
  size: number
  duration: number | null
  channels: number | null
  created_at: number
}

/** A row of `keys`. */
export type KeyRow = {
  hash: string
  account: string
  prefix: string
  created_at: number
  name: string | null
  /** Comma separated. */
  scopes: Generated<string>
  expires_at: number | null
  last_used_at: number | null
}

/** A row of `idempotency_keys`. */
export type IdempotencyRow = {
  account: string
  key: string
  fingerprint: string
  job_id: string
  created_at: number
}

/** A row of `live_sessions`. */
export type LiveSessionRow = {
  job_id: string
  token: string
  created_at: number
  ended_at: number | null
  /** The hash of the key that created it; null if unknown. */
  key_hash: string | null
}

/** A row of `endpoints`: a receiver of an account's events. */
export type EndpointRow = {
  id: string
  account: string
  /** A `webhook` receives events of all jobs; a `callback` stands for an origin that jobs name. */
  kind: 'webhook' | 'callback'
  /** The URL; only the origin for a callback. */
  url: string
  /** Comma separated; null = all. */
  events: string | null
  /** Who created it. */
  source: 'cli' | 'api' | 'settings' | 'jobs'
  name: string | null
  created_at: number
  /**
   * Since when all attempts have failed, at short intervals; null if the last attempt succeeded.
   */
  failing_since: Generated<number | null>
  last_failure: Generated<string | null>
  last_failure_at: Generated<number | null>
  last_success_at: Generated<number | null>
  disabled_at: Generated<number | null>
  disabled_reason: Generated<string | null>
}

/**
 * A row of `signing_secrets`. Without an endpoint it is the account's; without an expiry it is the
 * current one.
 */
export type SigningSecretRow = {
  id: string
  account: string
  endpoint_id: string | null
  secret: string
  created_at: number
  expires_at: number | null
}

/** A row of `deliveries`: the delivery of one event to one endpoint. */
export type DeliveryRow = {
  /** The `webhook-id` of every attempt. */
  id: string
  account: string
  /** Null for a test delivery. */
  job_id: string | null
  endpoint_id: string
  /** Its position among the deliveries of the job to the endpoint. */
  seq: number
  kind: 'callback' | 'live' | 'webhook'
  event: string
  method: 'POST' | 'PUT'
  url: string
  /**
   * The exact text, or the object that holds a long text; both are null if the body is built from
   * the job.
   */
  body: string | null
  body_object: string | null
  state: 'due' | 'waiting' | 'delivered' | 'failed'
  /** Why it failed, or why the last attempt did. */
  reason: Generated<string | null>
  /** Attempts since it was queued or last resent, and all of them. */
  tries: Generated<number>
  attempts: Generated<number>
  created_at: number
  /** When the next attempt is due; null while it waits for another delivery. */
  next_at: number | null
  ended_at: Generated<number | null>
  /** The process that sends the delivery, and until when, while an attempt is under way. */
  lease_owner: Generated<string | null>
  lease_epoch: Generated<number>
  lease_until: Generated<number | null>
}

/** A row of `delivery_attempts`. Headers are JSON; `error` is why there was no response. */
export type DeliveryAttemptRow = {
  delivery_id: string
  number: number
  at: number
  ms: number
  status: number | null
  error: string | null
  request_headers: string
  response_headers: string | null
  response_body: string | null
}

/** A row of `owners`: a node, which is a process that works on this database. */
export type OwnerRow = {
  id: string
  started_at: number
  heartbeat_at: number
  host: string
  pid: number
  /** The address by which other nodes reach it. */
  url: string | null
  /** A `NodeState` as JSON. */
  state: string
}

/** A row of `utterances`; how its terms are stored differs between the databases. */
export type UtteranceRow = {
  id: Generated<number>
  job_id: string
  n: number
  start: number
  end: number
  channel: number
  speaker: number | null
  /** The name that a correction gave the speaker or the channel. */
  speaker_name: string | null
  language: string
  text: string
}

/** A row of `live_batches`: a part of the audio and the log of an open live session. */
export type LiveBatchRow = {
  job_id: string
  seq: number
  /** The process that wrote it, and the epoch of its lease. */
  writer: string
  audio: Buffer
  log: Buffer
}

/**
 * A row of `account_bytes`: how many bytes an account stores. Triggers maintain it: a
 * table in SQLite, the view of a table of changes in PostgreSQL.
 */
export type AccountBytesRow = {
  account: string
  bytes: number
}

/**
 * A row of `usage`: the sum of what an account used on one day, with one key, by jobs of one kind.
 */
export type UsageRow = {
  account: string
  /** What is added up: `jobs`, `channel_microseconds`, `prompt_tokens` and others. */
  measure: string
  /** UTC midnight. */
  day: number
  /** Empty if unknown. */
  key_id: string
  kind: 'pre-recorded' | 'live'
  amount: number
}

/** A row of `audit_log`: what was done, to what, by whom. */
export type AuditRow = {
  id: string
  at: number
  action:
    | 'key.created'
    | 'key.revoked'
    | 'job.deleted'
    | 'model.pulled'
    | 'model.removed'
    | 'webhook.created'
    | 'webhook.removed'
    | 'server.started'
  source: 'api' | 'command' | 'retention' | 'server'
  /** The account that it concerns; null for a start of a server. */
  account: string | null
  /** The id of the key, job, model or webhook that it concerns; null for a start of a server. */
  subject: string | null
  /** The id of the key of the request. */
  key_id: string | null
  address: string | null
  /** JSON. */
  details: string
}

/**
 * A row of `sign_ins`: a browser that is signed in, a link that signs one in once, or a client
 * secret of a realtime session.
 */
export type SignInRow = {
  /** The SHA-256, in hex, of the secret that its holder sends. */
  hash: string
  kind: 'browser' | 'link' | 'client'
  /** The hash of the key whose rights the sign-in has. */
  key_hash: string
  expires_at: number
}

/** A row of `events`: what happened to a job or a delivery. Triggers write it. */
export type EventRow = {
  seq: Generated<number>
  /** The number of the transaction where several run at a time, else 0. */
  tx: Generated<number>
  account: string
  kind: 'pre-recorded' | 'live' | 'delivery'
  /** Null for a test delivery. */
  job_id: string | null
  delivery_id: string | null
  /** The new status of the job or the delivery; `deleted` for a deleted job. */
  status: string
  at: number
}

/** A row of `transcript_edits`: a version of a corrected transcript. */
export type TranscriptEditsRow = {
  job_id: string
  /** Counts from 1; version 0 is the original transcript. */
  version: number
  account: string
  created_at: number
  /** The name of the key with which the version was made. */
  key_name: string | null
  /** The earlier version that this version restores. */
  restored: number | null
  /** The number of operations from which the version was made. */
  operations: number
  /** JSON; empty if the version restores another one. */
  changes: string
}

/** A row of `shares`: a link that shows a job to anyone who has it. */
export type ShareRow = {
  /** The SHA-256, in hex, of the secret in the link. */
  hash: string
  id: string
  account: string
  job_id: string
  created_at: number
  expires_at: number
  /** Whether it shows the corrections of people. */
  is_edited: 0 | 1
  key_name: string | null
}
