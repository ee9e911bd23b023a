import type { IdempotencyKey } from '../../storage/jobs/create-job.ts'

/** A request for a session, after validation. */
export type ParsedLiveRequest = {
  /** `request_params` as the job shows them, after defaults. */
  params: Record<string, unknown>
  /**
   * Their JSON text, where it is already written; `params` may then lack the rest of long lists.
   */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
  /** Warnings about the request, which the result repeats. */
  warnings?: readonly string[] | undefined
  /** The hash of the requesting key: when the key is revoked or expires, the session ends. */
  keyHash?: string | undefined
  /** The id of the requesting key. */
  keyId?: string | undefined
  /** With it, a repeated request creates only one session. */
  idempotency?: IdempotencyKey | undefined
}

/** The response to a creation; the token is the client's right to connect. */
export type CreatedSession = { id: string; createdAt: number; token: string }
