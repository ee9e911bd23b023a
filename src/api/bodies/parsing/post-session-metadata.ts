import { AppError } from '../../../errors.ts'
import { isObject } from '../../../is-object.ts'
import { MAX_METADATA_KEY_CHARS, MAX_METADATA_KEYS } from '../../schemas/common/limits.ts'
import { validationError } from '../validation/validate-fields.ts'

/** The metadata that a client provides for a session, as JSON text. */
export type PostSessionMetadata = { text: string }

/**
 * Returns the field `post_session_metadata` if it is present and not null, and otherwise the whole
 * body.
 */
export function readMetadata(body: unknown): PostSessionMetadata {
  if (!isObject(body)) throw new AppError('body_unreadable', 'it must be a JSON object')
  const { post_session_metadata: postMetadata, ...rest } = body
  const metadata = postMetadata ?? rest
  const rule = isObject(metadata) ? brokenRule(Object.keys(metadata)) : 'must be an object'
  if (rule) throw validationError([{ path: ['post_session_metadata'], rule }])
  return { text: JSON.stringify(metadata) }
}

function brokenRule(keys: readonly string[]): string | undefined {
  if (keys.length > MAX_METADATA_KEYS) return `must not hold more than ${MAX_METADATA_KEYS} keys`
  if (keys.every((key) => key.length <= MAX_METADATA_KEY_CHARS)) return undefined
  return `must not hold a key of more than ${MAX_METADATA_KEY_CHARS} characters`
}
