import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { SubmitRequest } from '../../../jobs/job-service.ts'
import { findRecording, type StoredRecording } from '../../../storage/recordings/recordings.ts'
import { fileIdOf, uploadIdIn } from '../../responses/urls.ts'
import type { ParsedJobRequest } from '../parsing/parse-body.ts'
import {
  errorOfLines,
  type FieldError,
  formatFieldError,
  validationError,
} from '../validation/validate-fields.ts'

/** The account of a request, and the base URLs. */
export type Submitter = {
  account: string
  /** Base URLs under which a request may refer to uploads. */
  bases: readonly string[]
}

/**
 * Converts a request for a job to a submission. It reports errors of the request together with
 * those of the upload, then contradictions.
 */
export async function toSubmission(
  creation: ParsedJobRequest,
  { account, bases }: Submitter,
  { storage }: Pick<App, 'storage'>,
): Promise<SubmitRequest> {
  const { audioUrl, errors } = creation
  const submitter = { account, bases }
  const audio = audioUrl === undefined ? {} : await findUpload(audioUrl, submitter, storage)
  // The URL is the first of all fields.
  if (audio.problem) errors.lines.unshift(formatFieldError(audio.problem))
  const request = toValidRequest(creation)
  const fileId = audio.upload?.id ?? null
  return { ...request, fileId, source: fileId ? null : audioUrl! }
}

/**
 * Finds the upload that an `audio_url` names. There is a problem if it names one of this server
 * that does not exist, and neither for the URL of another server.
 */
export async function findUpload(
  audioUrl: string,
  { account, bases }: Submitter,
  { db }: Pick<App['storage'], 'db'>,
): Promise<{ upload?: StoredRecording; problem?: FieldError }> {
  const ownId = fileIdOf(audioUrl, bases)
  const id = ownId ?? uploadIdIn(audioUrl)
  const upload = id ? await findRecording(db, { id, account }) : undefined
  if (upload) return { upload }
  return ownId === undefined ? {} : { problem: unknownUpload }
}

const unknownUpload: FieldError = {
  path: ['audio_url'],
  rule: 'must name an uploaded file that exists',
}

/**
 * Converts the error of a submission to that of a request. The upload may be deleted with its last
 * job between the reading of the request and the creation of the new job.
 */
export function toSubmissionError(error: unknown): unknown {
  const isGone = error instanceof AppError && error.code === 'file_not_found'
  return isGone ? validationError([unknownUpload]) : error
}

/**
 * Returns the parameters of a request, for a job or a live session, with the warnings about it.
 * Throws `request_invalid` or `request_contradictory`.
 */
export function toValidRequest({
  errors,
  ignored,
  withoutEffect,
  contradictions,
  params,
  paramsText,
  customMetadata,
}: ParsedJobRequest): Omit<SubmitRequest, 'fileId' | 'source'> {
  const invalid = errorOfLines(errors)
  if (invalid) throw invalid
  if (contradictions.length > 0) {
    const detail = contradictions.join('; ')
    throw new AppError('request_contradictory', detail, { validationErrors: contradictions })
  }
  const warnings = [
    ['unknown fields of the request were ignored', ignored] as const,
    ['fields of the request have no effect', withoutEffect] as const,
  ].flatMap(([text, names]) => (names.length > 0 ? [`${text}: ${names.join(', ')}`] : []))
  return { params, paramsText, customMetadata, warnings }
}
