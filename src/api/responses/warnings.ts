import type { FastifyReply } from 'fastify'

/** Warns in a header about fields of a request that nothing reads, such as a mistyped one. */
export function warnOfIgnored(
  reply: FastifyReply,
  { ignored }: { ignored: readonly string[] },
): void {
  if (ignored.length > 0) reply.header('x-steno-warning', `ignored: ${ignored.join(', ')}`)
}
