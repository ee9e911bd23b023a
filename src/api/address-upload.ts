import { AppError, type ErrorCode } from '../errors.ts'
import { UploadRequest } from './schemas/upload.ts'
import { problemsError, type ReadOptions, readFields } from './validation.ts'

/** Reads the body of an upload by address (contract 2.1, form 2). */
export function readAddress(body: unknown, options: ReadOptions): string {
  const { value, problems } = readFields(UploadRequest, body, options)
  const error = problemsError(problems)
  if (error) throw error
  return value.audio_url
}

const sourceCodes: ReadonlySet<ErrorCode> = new Set([
  'source_forbidden',
  'source_not_found',
  'source_refused',
  'source_timeout',
  'source_unreachable',
] as const)

/** A job shows why its source failed as a status; here that is a fault of the field (contract D20). */
export function asFieldError(error: unknown): unknown {
  if (!(error instanceof AppError && sourceCodes.has(error.code))) return error
  const { message } = error
  const validationErrors = [`audio_url must lead to audio that can be fetched: ${message}`]
  return new AppError('request_invalid', message, { validationErrors, cause: error })
}
