import type { FastifyReply } from 'fastify'
import type { App } from '../../app/app-type.ts'
import type { JobRef } from '../../storage/jobs/jobs.ts'

/** Marks a job as delivered once this response, which holds its whole result, was sent. */
export function markDeliveredWhenSent(
  { service }: App['jobs'],
  reply: FastifyReply,
  { id, account }: Pick<JobRef, 'id' | 'account'>,
): void {
  if (reply.request.method === 'HEAD') return
  reply.raw.once('finish', () => {
    if (reply.statusCode < 300) void service.markResultDelivered({ id, account })
  })
}
