import { AppError, type ErrorCode } from '../../../errors.ts'

const sourceCodes: ReadonlySet<ErrorCode> = new Set([
  'source_forbidden',
  'source_not_found',
  'source_refused',
  'source_timeout',
  'source_unreachable',
] as const)

/**
 * Converts the error of a source, which a job reports by its status, to an error of the field
 * `audio_url`.
 */
export function toSourceFieldError(error: unknown): unknown {
  if (!(error instanceof AppError && sourceCodes.has(error.code))) return error
  const { message } = error
  const validationErrors = [`audio_url must lead to audio that can be fetched: ${message}`]
  return new AppError('request_invalid', message, { validationErrors, cause: error })
}
