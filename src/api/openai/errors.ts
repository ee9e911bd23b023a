import type { AppError } from '../../errors.ts'

/** The body of an error in the form of OpenAI's API. */
export type OpenAiError = {
  error: { message: string; type: string; param: string | null; code: string | null }
}

/** Returns whether the responses on a path have the form of OpenAI's API. */
export function isOpenAiPath(path: string): boolean {
  return path.startsWith('/v1/')
}

/** Returns the status of an error in OpenAI's API, which has no 415. */
export function openAiStatusOf({ status }: AppError): number {
  return status === 415 ? 400 : status
}

/** Fields of a job, and the names of the fields of OpenAI's API from which they come. */
const requestFieldNames = [
  [/^language_config\.\S+/, 'language'],
  [/^(?:realtime_processing\.)?custom_vocabulary_config\.\S+/, 'keywords'],
] as const

/**
 * Returns an error in the form of OpenAI's API; the errors of single fields become part of its
 * message.
 */
export function toOpenAiError({ status, code, message, validationErrors }: AppError): OpenAiError {
  const lines = validationErrors?.map((line) =>
    requestFieldNames.reduce((renamed, [field, origin]) => renamed.replace(field, origin), line),
  )
  const [first] = lines ?? []
  const text = lines ? lines.join('; ') : message
  const param = /^([\w.]+) (?:must|is required)\b/.exec(first ?? '')?.[1] ?? null
  const isKeyError = code === 'key_unknown' || code === 'key_missing' || code === 'key_expired'
  return {
    error: {
      message: text,
      type: errorType(status),
      param,
      code: isKeyError ? 'invalid_api_key' : code,
    },
  }
}

function errorType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  if (status === 402) return 'insufficient_quota'
  if (status === 403) return 'permission_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
