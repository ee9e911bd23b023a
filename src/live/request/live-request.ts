import type { IdempotencyKey } from '../../storage/jobs/job-writer.ts'

/** A request for a session, after validation. */
export type ParsedLiveRequest = {
  /** `request_params` as the job shows them, after defaults. */
  params: Record<string, unknown>
  /**
   * The JSON text of `params`, if it exists already; long lists in `params` may then be shortened.
   */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
  /** Warnings about the request, which the result repeats. */
  warnings?: readonly string[] | undefined
  /** The hash of the requesting key: when the key is revoked or expires, the session ends. */
  keyHash?: string | undefined
  /** The id of the requesting key. */
  keyId?: string | undefined
  /** A key with which repeated requests create only one session. */
  idempotency?: IdempotencyKey | undefined
}

/**
 * The response to the creation of a session. `token` authorizes the client to connect; `createdAt`
 * is in milliseconds since 1970.
 */
export type CreatedSession = { id: string; createdAt: number; token: string }
