import { userInfo } from 'node:os'
import type { Actor } from '../../storage/accounts/audit-log.ts'

/** Returns who runs a command, for the audit log. */
export function commandActor(): Actor {
  return { source: 'command', user: userName() }
}

/** A user of a container may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
