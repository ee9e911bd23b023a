import { userInfo } from 'node:os'
import type { Actor } from '../../storage/accounts/audit-log.ts'

/** Returns who runs a command, for the audit log. */
export function commandActor(): Actor {
  return { source: 'command', user: userName() }
}

/** Returns the name of the user, or its id where it has no name, as in containers. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
