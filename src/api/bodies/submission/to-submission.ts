import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { SubmitRequest } from '../../../jobs/job-service.ts'
import type { ParsedLiveRequest } from '../../../live/request/live-request.ts'
import { findRecording } from '../../../storage/objects/recordings.ts'
import { fileIdOf, uploadIdIn } from '../../responses/urls.ts'
import type { ParsedJobRequest } from '../parsing/parse-body.ts'
import {
  errorOfLines,
  type FieldError,
  formatFieldError,
  validationError,
} from '../validation/validate-fields.ts'

/** The account that submits, and the base URLs. */
export type Submitter = {
  account: string
  /** Base URLs under which uploads of this server may be named. */
  bases: readonly string[]
}

/**
 * Turns a creation whose body was read into a submission: reports errors with it and with the
 * upload that it names together; then contradictions.
 */
export async function toSubmission(
  creation: ParsedJobRequest,
  { account, bases }: Submitter,
  { storage }: Pick<App, 'storage'>,
): Promise<SubmitRequest> {
  const { audioUrl, errors } = creation
  const audio = audioUrl === undefined ? {} : await findAudio(audioUrl)
  // The URL is the first field of all.
  if (audio.problem) errors.lines.unshift(formatFieldError(audio.problem))
  const request = toLiveSubmission(creation)
  return { ...request, fileId: audio.fileId ?? null, source: audio.fileId ? null : audioUrl! }

  async function findAudio(audioUrl: string): Promise<{ fileId?: string; problem?: FieldError }> {
    const id = fileIdOf(audioUrl, bases)
    const fileId = id ?? uploadIdIn(audioUrl)
    if (fileId && (await findRecording(storage.db, { id: fileId, account }))) return { fileId }
    if (id === undefined) return {}
    return { problem: unknownUpload }
  }
}

const unknownUpload: FieldError = {
  path: ['audio_url'],
  rule: 'must name an uploaded file that exists',
}

/**
 * Returns the error of a submission as that of a request: an upload that was there when its request
 * was read may be deleted with its last job before the new one is stored.
 */
export function toSubmissionError(error: unknown): unknown {
  const isGone = error instanceof AppError && error.code === 'file_not_found'
  return isGone ? validationError([unknownUpload]) : error
}

/** Turns the parsed request of a live session, which names no recording, into that of `live`. */
export function toLiveSubmission({
  errors,
  ignored,
  contradictions,
  params,
  paramsText,
  customMetadata,
}: ParsedJobRequest): ParsedLiveRequest {
  const invalid = errorOfLines(errors)
  if (invalid) throw invalid
  if (contradictions.length > 0) {
    const detail = contradictions.join('; ')
    throw new AppError('request_contradictory', detail, { validationErrors: contradictions })
  }
  const warnings =
    ignored.length > 0 ? [`unknown fields of the request were ignored: ${ignored.join(', ')}`] : []
  return { params, paramsText, customMetadata, warnings }
}
