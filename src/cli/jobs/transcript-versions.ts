import type { ApiTranscriptVersion } from '../client/api-types.ts'
import { sanitize } from '../terminal/sanitize.ts'

/**
 * Formats a version of a corrected transcript as one line: number, time, change, name of the key.
 */
export function formatVersion({
  version,
  created_at,
  key_name,
  operations,
  restored,
}: ApiTranscriptVersion): string {
  const count = `${operations} ${operations === 1 ? 'operation' : 'operations'}`
  const change = restored === null ? count : `restores ${restored}`
  return `${sanitize(`${version}  ${created_at}  ${change}  (${key_name ?? '-'})`)}\n`
}
