import { AppError, isDiskFull } from '../../../errors.ts'
import { storageError } from '../../data-folder/storage-error.ts'

/** Seconds after which a refused request may succeed. */
const RETRY_AFTER = 5

/** The codes for no space left, which differ between servers. */
const FULL: ReadonlySet<string> = new Set([
  ...['QuotaExceeded', 'InsufficientStorage', 'XMinioStorageFull', 'InsufficientCapacity'],
  'StorageFull',
])
const MISSING: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound'])
const REFUSED: ReadonlySet<string> = new Set([
  ...['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken'],
  ...['InvalidToken', 'TokenRefreshRequired', 'AllAccessDisabled', 'Forbidden'],
  'TokenProviderError',
])

/** An error of the client: the response of a server, or why there was none. */
type ClientError = Error & {
  code?: unknown
  $metadata?: { httpStatusCode?: number }
  $response?: unknown
}

/**
 * Returns the code of a response of the server, such as `NoSuchKey`; that of the error otherwise.
 */
export function s3Code(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const { name, code } = error as ClientError
  return typeof code === 'string' && name === 'Error' ? code : name
}

/** Returns whether the object of a request does not exist. */
export function isMissingObject(error: unknown): boolean {
  return MISSING.has(s3Code(error))
}

/**
 * Maps an error of the client or of local files to the error table. The messages of servers contain
 * addresses and keys, so they stay in the cause, which only the log shows.
 */
export function s3Error(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError || error.name === 'AbortError') {
    return error
  }
  const code = s3Code(error)
  if (MISSING.has(code)) return new AppError('file_not_found', undefined, { cause: error })
  const status = (error as ClientError).$metadata?.httpStatusCode
  if (FULL.has(code) || status === 507) {
    return new AppError('storage_full', 'the object store has no space left', { cause: error })
  }
  const isLocal = status === undefined && (error as NodeJS.ErrnoException).path !== undefined
  if (isLocal || isDiskFull(error)) return storageError(error)
  return unavailable(s3ReasonOf(code, status), error)
}

/** Throws what `s3Error` returns; for `catch`. */
export function throwS3Error(error: unknown): never {
  throw s3Error(error)
}

function s3ReasonOf(code: string, status: number | undefined): string {
  if (code === 'CredentialsProviderError') return 'there are no credentials'
  if (code === 'NoSuchBucket') return 'its bucket does not exist'
  if (REFUSED.has(code) || status === 401 || status === 403) {
    return `it refuses the credentials (${code})`
  }
  return status === undefined ? code : `it responds with ${status} (${code})`
}

function unavailable(detail: string, cause: Error): AppError {
  return new AppError('object_store_unavailable', detail, { cause, retryAfter: RETRY_AFTER })
}
