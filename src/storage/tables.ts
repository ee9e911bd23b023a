import type { Generated } from 'kysely'

/** The columns as they lie in the database; `migrations/` creates them. Moments are milliseconds, JSON is text. */
export type Tables = {
  jobs: JobRow
  files: FileRow
  keys: KeyRow
  idempotency_keys: IdempotencyRow
  live_sessions: LiveSessionRow
  endpoints: EndpointRow
  signing_secrets: SigningSecretRow
  deliveries: DeliveryRow
  delivery_attempts: DeliveryAttemptRow
  account_bytes: AccountBytesRow
}

/** A row of `jobs`. */
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
  /** The result itself, when it is small; else `result_object` names the object that holds it. */
  result: string | null
  result_object: string | null
  /** The bytes of that object. */
  result_size: number | null
  /** The recording that is kept in place of the one that `file_id` names; with it, its bytes. */
  redacted_object: string | null
  redacted_size: number | null
  attempt: number
  /** How often a server went down that had the job in hand. */
  interruptions: number
  lease_owner: string | null
  lease_epoch: number
  lease_until: number | null
  run_after: number
  /** Since when it waits, again and again, for space on the disk. */
  storage_wait_since: number | null
  priority: number
  progress_stage: string | null
  progress_fraction: number | null
  progress_seconds_left: number | null
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
  /** Of the key that made it; null where that is not known. */
  key_hash: string | null
}

/** A row of `endpoints`: a receiver that is told of events of an account. */
export type EndpointRow = {
  id: string
  account: string
  /** A `webhook` is told of all jobs; a `callback` stands for an origin that jobs name. */
  kind: 'webhook' | 'callback'
  /** Of a callback only the origin. */
  url: string
  /** Comma separated; null = all. */
  events: string | null
  /** Where it comes from. */
  source: 'cli' | 'settings' | 'jobs'
  name: string | null
  created_at: number
  /** Since when nothing but failures came, one soon after the other; null while the last was none. */
  failing_since: Generated<number | null>
  last_failure: Generated<string | null>
  last_failure_at: Generated<number | null>
  last_success_at: Generated<number | null>
  disabled_at: Generated<number | null>
  disabled_reason: Generated<string | null>
}

/** A row of `signing_secrets`; without an endpoint it is the account's, without an end the current one. */
export type SigningSecretRow = {
  id: string
  account: string
  endpoint_id: string | null
  secret: string
  created_at: number
  expires_at: number | null
}

/** A row of `deliveries`: one event on its way to one endpoint. */
export type DeliveryRow = {
  /** The `webhook-id` of every attempt. */
  id: string
  account: string
  /** Null for a test. */
  job_id: string | null
  endpoint_id: string
  /** Its place among the deliveries of the job to the endpoint. */
  seq: number
  kind: 'callback' | 'live' | 'webhook'
  event: string
  method: 'POST' | 'PUT'
  url: string
  /** The exact text, or the object that holds a long one; neither when it is made from the job. */
  body: string | null
  body_object: string | null
  state: 'due' | 'waiting' | 'delivered' | 'failed'
  /** Why it failed, or why the last attempt did. */
  reason: Generated<string | null>
  /** Attempts since it was queued or sent again, and all of them. */
  tries: Generated<number>
  attempts: Generated<number>
  created_at: number
  /** When the next attempt is due; null while it waits for another. */
  next_at: number | null
  ended_at: Generated<number | null>
}

/** A row of `delivery_attempts`; headers are JSON, `error` tells why there was no answer. */
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

/** A row of `account_bytes`: what an account holds; kept by triggers. */
export type AccountBytesRow = {
  account: string
  bytes: number
}
