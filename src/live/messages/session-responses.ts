import { createHash } from 'node:crypto'
import type { Journal } from '../journal/journal.ts'
import { formatLogRecord } from '../journal/log-records.ts'
import type { MemoizeResponse } from './session-services.ts'

/** Answers of services that were logged, by what they are for and by the hash of the request. */
export type LoggedResponses = Map<string, Map<string, unknown>>

/**
 * Returns a function that logs each response of a service, so that none is requested and paid for
 * twice when a process is killed before it logs what the responses are for: an utterance, or an
 * add-on at the end.
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
