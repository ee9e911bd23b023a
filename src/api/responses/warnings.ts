import type { FastifyReply } from 'fastify'

/** Characters that a header cannot contain: all but printable ASCII. */
const UNPRINTABLE = /[^\x20-\x7e]/g

/**
 * Warns in a header about fields of a request that nothing reads, such as a mistyped or an old one,
 * and about options that have no effect.
 */
export function setWarnings(
  reply: FastifyReply,
  { ignored, withoutEffect }: { ignored: readonly string[]; withoutEffect: readonly string[] },
  options: readonly string[] = [],
): void {
  const unread = [...ignored, ...withoutEffect]
  const unreadWarnings = unread.length > 0 ? [`ignored: ${unread.join(', ')}`] : []
  const warnings = [...unreadWarnings, ...options]
  if (warnings.length === 0) return
  reply.header('x-steno-warning', warnings.join('; ').replace(UNPRINTABLE, '?'))
}
