/**
 * Every error that a user can meet, in one table: the code that programs switch on, the status of
 * the response (over HTTP, or as a job's `error_code`), and the sentence that people read.
 * `docs/errors.md` explains each one; a test keeps the two in sync.
 */
const table = {
  request_unreadable: { status: 400, message: 'Cannot read the HTTP request' },
  host_refused: { status: 400, message: 'Cannot serve requests for this host' },
  body_unreadable: { status: 400, message: 'Cannot read the request body' },
  request_invalid: {
    status: 400,
    message: 'Invalid request parameters, see validation_errors',
  },
  upload_invalid: { status: 400, message: 'Cannot read the upload' },
  media_undecodable: { status: 400, message: 'Cannot decode the media' },
  key_missing: { status: 401, message: 'Cannot serve the request without a key' },
  key_unknown: { status: 401, message: 'Cannot accept the key' },
  key_expired: { status: 401, message: 'Cannot accept an expired key' },
  sign_in_ended: { status: 401, message: 'Cannot accept a sign-in that has ended' },
  quota_exceeded: { status: 402, message: 'QuotaExceeded: Cannot accept more from the account' },
  request_forged: { status: 403, message: 'Cannot accept a request from another page' },
  scope_missing: { status: 403, message: 'Cannot do this with the key' },
  key_refused: {
    status: 403,
    message: 'Cannot create or revoke a key with more rights than your own',
  },
  model_required: { status: 403, message: 'Cannot remove a model that the server needs' },
  job_active: { status: 403, message: 'Cannot delete a job that has not ended' },
  source_forbidden: { status: 403, message: 'Cannot fetch the audio' },
  route_not_found: { status: 404, message: 'Cannot find the route' },
  job_not_found: { status: 404, message: 'Cannot find the job' },
  file_not_found: { status: 404, message: 'Cannot find the file' },
  delivery_not_found: { status: 404, message: 'Cannot find the delivery' },
  endpoint_not_found: { status: 404, message: 'Cannot find the endpoint' },
  key_not_found: { status: 404, message: 'Cannot find the key' },
  model_not_found: { status: 404, message: 'Cannot find the model' },
  add_on_not_found: { status: 404, message: 'Cannot find the add-on' },
  share_not_found: { status: 404, message: 'Cannot find the link' },
  source_not_found: { status: 404, message: 'Cannot find the audio' },
  method_not_allowed: { status: 405, message: 'Cannot use this method here' },
  request_timeout: { status: 408, message: 'Cannot wait longer for the request' },
  session_not_connected: { status: 408, message: 'Cannot wait longer for a connection' },
  source_timeout: { status: 408, message: 'Cannot fetch the audio in time' },
  model_pulled: { status: 409, message: 'Cannot remove a model that is being pulled' },
  webhook_exists: { status: 409, message: 'Cannot create a second webhook with this address' },
  edits_outdated: { status: 409, message: 'Cannot correct an older version of the transcript' },
  words_changed: { status: 409, message: 'Cannot correct words that the transcript does not have' },
  endpoint_disabled: { status: 422, message: 'Cannot send to an endpoint that is disabled' },
  endpoint_gone: { status: 422, message: 'Cannot send to an endpoint that was removed' },
  job_ended: { status: 422, message: 'Cannot cancel a job that has ended' },
  job_not_done: { status: 422, message: 'Cannot use the transcript of a job that is not done' },
  edit_refused: { status: 422, message: 'Cannot apply the correction' },
  too_many_keys: { status: 422, message: 'Cannot create more keys for the account' },
  too_many_webhooks: { status: 422, message: 'Cannot create more webhooks for the account' },
  webhook_configured: { status: 422, message: 'Cannot remove a webhook that the settings define' },
  too_many_shares: { status: 422, message: 'Cannot create more links to the job' },
  add_on_not_requested: { status: 422, message: 'Cannot retry an add-on that was not requested' },
  add_on_succeeded: { status: 422, message: 'Cannot retry an add-on that has succeeded' },
  body_too_large: { status: 413, message: 'Cannot accept a body of this size' },
  media_too_large: { status: 413, message: 'Cannot accept media of this size' },
  media_too_long: { status: 413, message: 'Cannot accept audio of this length' },
  edits_full: { status: 413, message: 'Cannot store more corrections of the transcript' },
  result_too_large: { status: 413, message: 'Cannot store a result of this size' },
  content_type_unsupported: { status: 415, message: 'Cannot read this content type' },
  media_unsupported: { status: 415, message: 'Cannot read the media' },
  range_not_satisfiable: { status: 416, message: 'Cannot send this range of bytes' },
  media_without_audio: { status: 422, message: 'Cannot find an audio track' },
  request_contradictory: { status: 422, message: 'Contradictory request parameters' },
  idempotency_conflict: {
    status: 422,
    message: 'Cannot repeat the request: its Idempotency-Key was used with another body',
  },
  language_not_installed: { status: 422, message: 'Cannot transcribe the language' },
  add_on_not_repeatable: { status: 422, message: 'Cannot retry this add-on' },
  feature_not_configured: { status: 422, message: 'Cannot use a feature that this server lacks' },
  rate_limited: { status: 429, message: 'Cannot accept more requests at the moment' },
  too_many_uploads: { status: 429, message: 'Cannot probe more uploads at once' },
  too_many_fetches: { status: 429, message: 'Cannot fetch more recordings at once' },
  too_many_sessions: { status: 429, message: 'Cannot open more live sessions' },
  too_many_jobs: { status: 429, message: 'Cannot queue more jobs' },
  headers_too_large: { status: 431, message: 'Cannot accept headers of this size' },
  job_canceled: { status: 499, message: 'Cannot finish the job: it was canceled' },
  internal: { status: 500, message: 'Internal server error' },
  engine_failed: { status: 500, message: 'Cannot recognize the speech' },
  attempts_exhausted: { status: 500, message: 'Cannot finish the job' },
  speaker_model_unusable: { status: 500, message: 'Cannot use the added speaker model' },
  storage_unreadable: { status: 500, message: 'Cannot read stored data' },
  model_pull_failed: { status: 502, message: 'Cannot install a model for the language' },
  remote_engine_refused: { status: 502, message: 'Cannot use the remote engine' },
  source_unreachable: { status: 502, message: 'Cannot reach the audio source' },
  source_refused: { status: 502, message: 'Cannot fetch from this address' },
  server_stopping: { status: 503, message: 'Cannot accept work while stopping' },
  database_unavailable: { status: 503, message: 'Cannot reach the database' },
  object_store_unavailable: { status: 503, message: 'Cannot reach the object store' },
  engine_unavailable: { status: 503, message: 'Cannot reach a working recognizer' },
  storage_full: { status: 503, message: 'Cannot write to the disk' },
  storage_low: { status: 503, message: 'Cannot accept new work while the disk is nearly full' },
  live_unavailable: { status: 503, message: 'Cannot run another live session' },
  queue_timeout: { status: 503, message: 'Cannot start the job in time' },
  job_timeout: { status: 504, message: 'Cannot finish the job in time' },
} as const

/** A code of the table. */
export type ErrorCode = keyof typeof table

/** All codes of the table, for the docs test and the API description. */
export const errorCodes = Object.keys(table) as ErrorCode[]

/** Returns the HTTP status (or job `error_code`) of `code`. */
export function httpStatusOf(code: ErrorCode): number {
  return table[code].status
}

/** What an error carries besides code and sentence. */
export type AppErrorOptions = ErrorOptions & {
  /** One line per invalid field, as the API reference defines them. */
  validationErrors?: readonly string[]
  /** Seconds after which a retry makes sense. */
  retryAfter?: number
  /** Whether a job that fails with it may succeed later, although nothing about the job changes. */
  isTransient?: boolean
}

/**
 * The only error that clients see. `detail` says what went wrong, including the value. It
 * reaches the user, so it must never hold a key, a token, audio, text of a transcript or a path.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly validationErrors: readonly string[] | undefined
  readonly retryAfter: number | undefined
  readonly isTransient: boolean

  constructor(code: ErrorCode, detail?: string, options: AppErrorOptions = {}) {
    const { validationErrors, retryAfter, isTransient = false, ...rest } = options
    super(detail ? `${table[code].message}: ${detail}` : table[code].message, rest)
    this.name = 'AppError'
    this.code = code
    this.status = table[code].status
    this.validationErrors = validationErrors
    this.retryAfter = retryAfter
    this.isTransient = isTransient
  }
}

/** Rebuilds the error that a job failed with from its message. */
export function errorOfFailure(message: string): AppError {
  const code = errorCodes
    .filter(
      (code) => message === table[code].message || message.startsWith(`${table[code].message}: `),
    )
    .sort((a, b) => table[b].message.length - table[a].message.length)[0]
  return fromPlain({ code: code ?? 'internal', message })
}

/**
 * Returns the message of any thrown value. If a failed close suppressed another error, returns the
 * message of that one; of several errors, all their messages.
 */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns whether a write failed because no space is left: on the disk, in the quota of the user or
 * in a file, whose size `ulimit -f` limits.
 */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
}

/**
 * The plain data of an error. Only plain data crosses a process boundary: `toPlain` on one side,
 * `fromPlain` on the other. Anything that is not an `AppError` arrives as `engine_failed`.
 */
export type PlainError = {
  code: ErrorCode
  message: string
  validationErrors?: readonly string[]
}

/** Flattens an error for another process. */
export function toPlain(error: unknown): PlainError {
  if (error instanceof AppError) {
    const { code, message, validationErrors } = error
    return { code, message, ...(validationErrors && { validationErrors }) }
  }
  return { code: 'engine_failed', message: messageOf(error) }
}

/** Rebuilds the error that `toPlain` flattened. */
export function fromPlain({ code, message, ...lines }: PlainError): AppError {
  const prefix = `${table[code].message}: `
  const detail = message.startsWith(prefix) ? message.slice(prefix.length) : message
  return new AppError(code, message === table[code].message ? undefined : detail, lines)
}
