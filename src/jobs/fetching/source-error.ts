import { AppError, type ErrorCode } from '../../errors.ts'
import {
  type ConnectionError,
  describeConnectionError,
  isTransientError,
} from '../../net/connection-error.ts'

const codes: Record<ConnectionError['kind'], ErrorCode> = {
  refused: 'source_refused',
  late: 'source_timeout',
  failed: 'source_unreachable',
}

/** Maps an error of the HTTP client to an `AppError`. */
export function sourceError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { cause } = error as { cause?: unknown }
  if (cause instanceof AppError) return cause
  const { kind, detail } = describeConnectionError(error)
  return new AppError(codes[kind], detail, { cause: error, isTransient: isTransientError(error) })
}
