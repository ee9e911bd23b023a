import { Type } from './type.ts'
import { DateTime } from './values.ts'

/** The body of every unsuccessful response. */
export const ErrorView = Type.Object(
  {
    timestamp: DateTime,
    path: Type.String({ description: 'The path of the request, without its query' }),
    request_id: Type.String({ description: 'The id of the request in the server’s log' }),
    statusCode: Type.Integer({ minimum: 400, maximum: 599 }),
    message: Type.String(),
    validation_errors: Type.Optional(
      Type.Array(Type.String(), {
        description: 'One line per invalid field: its path, then what it must be',
      }),
    ),
  },
  { title: 'Error' },
)

const descriptions = {
  400: 'The request cannot be read, or some fields are invalid.',
  401: 'The key is missing or unknown.',
  402: 'QuotaExceeded: the account has reached its quota for storage or for this month.',
  403: 'The key may not do this, or the job has not ended.',
  404: 'The resource does not exist, was deleted, is of the other kind, or belongs to another account.',
  405: 'The path does not support this method.',
  409: 'The transcript has a newer version, or other words than expected.',
  413: 'The body or the media is too large.',
  415: 'The content type is wrong, or the file has no audio.',
  416: 'The range lies outside the file.',
  422: 'Fields contradict each other, the job or what the server offers; or the receiver is disabled or gone.',
  429: 'Too many requests, jobs or live sessions.',
  500: 'An unexpected error occurred.',
  503: 'The server is stopping, no recognizer works, the database cannot be reached, or the disk is nearly full.',
} as const

/** A status of error responses. */
export type ErrorStatus = keyof typeof descriptions

/** Returns the description of an error response. */
export function errorResponse(status: ErrorStatus) {
  return {
    description: descriptions[status],
    content: { 'application/json': { schema: ErrorView } },
  }
}

/**
 * Returns error responses for the schema of a route; routes need not name those that any route can
 * return.
 */
export function errorResponses<S extends ErrorStatus>(
  ...statuses: readonly S[]
): Record<S, ReturnType<typeof errorResponse>> {
  const responses = statuses.map((status) => [status, errorResponse(status)] as const)
  return Object.fromEntries(responses) as Record<S, ReturnType<typeof errorResponse>>
}
