import { createHash } from 'node:crypto'
import type { Journal } from '../journal/journal.ts'
import { formatLogRecord } from '../journal/log-records.ts'
import type { MemoizeResponse } from './session-services.ts'

/**
 * Logged responses of services, by purpose and by the hash of the request; see `ResponseRecord`.
 */
export type LoggedResponses = Map<string, Map<string, unknown>>

/**
 * Returns a function that logs each response of a service. After a crash, it returns the logged
 * response instead of sending, and paying for, the same request again. `purpose` is the result that
 * the responses are for: an utterance, or an add-on at the end.
 */
export function cacheServiceResponses(
  purpose: string,
  { journal, logged }: { journal: Pick<Journal, 'append'>; logged: LoggedResponses },
): MemoizeResponse {
  return async (keyParts, request) => {
    const key = createHash('sha256').update(JSON.stringify(keyParts)).digest('base64url')
    const loggedResponse = logged.get(purpose)?.get(key)
    if (loggedResponse !== undefined) return loggedResponse as Awaited<ReturnType<typeof request>>
    const value = await request()
    journal.append({
      lines: [formatLogRecord({ kind: 'answer', answer: { purpose, key, value } })],
    })
    return value
  }
}
