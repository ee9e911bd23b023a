import type { Generated } from 'kysely'

/** The columns as they lie in the database; `migrations/` creates them. Moments are milliseconds, JSON is text. */
export type Tables = {
  jobs: JobRow
  files: FileRow
  keys: KeyRow
  idempotency_keys: IdempotencyRow
  live_sessions: LiveSessionRow
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
  attempt: number
  /** How often a server went down that had the job in hand. */
  interruptions: number
  lease_owner: string | null
  lease_epoch: number
  lease_until: number | null
  run_after: number
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
}
