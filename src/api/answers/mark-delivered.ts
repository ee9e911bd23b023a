import type { FastifyReply } from 'fastify'
import type { App } from '../../server-parts.ts'
import type { JobId } from '../../storage/jobs/jobs.ts'

/** Has a job noted as delivered when this answer, which holds all of its result, was sent whole. */
export function markDeliveredWhenSent(
  { submission }: App['jobs'],
  reply: FastifyReply,
  { id, account }: Pick<JobId, 'id' | 'account'>,
): void {
  if (reply.request.method === 'HEAD') return
  reply.raw.once('finish', () => {
    if (reply.statusCode < 300) void submission.noteDelivered({ id, account })
  })
}
