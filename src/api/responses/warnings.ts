import type { FastifyReply } from 'fastify'

/** Characters that a header cannot contain: all but printable ASCII. */
const UNPRINTABLE = /[^\x20-\x7e]/g

/**
 * Warns in a header about fields of a request that nothing reads, such as a mistyped one, and about
 * options that have no effect.
 */
export function setWarnings(
  reply: FastifyReply,
  { ignored }: { ignored: readonly string[] },
  withoutEffect: readonly string[] = [],
): void {
  const ignoredWarnings = ignored.length > 0 ? [`ignored: ${ignored.join(', ')}`] : []
  const warnings = [...ignoredWarnings, ...withoutEffect]
  if (warnings.length === 0) return
  reply.header('x-steno-warning', warnings.join('; ').replace(UNPRINTABLE, '?'))
}
