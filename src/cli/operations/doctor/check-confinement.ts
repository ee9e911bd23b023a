import type { Confinement } from '../../../audio/decoder/sandbox/decoder-sandbox.ts'
import type { CheckResult } from './checks.ts'

const texts: Record<Confinement, string> = {
  isolated: 'decoders have no network, and see no other process and no file but their recording',
  files: 'decoders have no network, and can write to their own folder only',
  network: 'decoders have no network, but can write what the server can',
  limits: 'decoders have limits of memory and time, but the network and the files of the server',
  none: 'decoders have the memory, the network and the files of the server',
}

/**
 * Checks how well decoders, which process users' files, are isolated from the rest of the
 * machine.
 */
export async function checkConfinement(): Promise<CheckResult> {
  const { findConfinement } = await import('../../../audio/decoder/sandbox/decoder-sandbox.ts')
  const confinement = findConfinement()
  const text = texts[confinement]
  if (confinement === 'isolated') return { state: 'ok', text }
  // The installation is not at fault: most containers and some distributions forbid it.
  const remedy =
    "allow 'unshare --user --net --mount --pid' where you can; it needs util-linux with setpriv and user namespaces"
  return { state: confinement === 'none' ? 'warn' : 'ok', text, remedy }
}

/** Checks whether the process runs as root; `userId` is for tests. */
export function checkUser(userId = process.getuid?.()): CheckResult {
  if (userId !== 0) return { state: 'ok', text: 'run by a user without root privileges' }
  const text = 'run as root, which the server does not need'
  return { state: 'warn', text, remedy: 'start it as a user of its own who owns the data folder' }
}
