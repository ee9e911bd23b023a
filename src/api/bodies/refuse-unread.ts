import { Readable } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../errors.ts'
import { sendError } from '../errors.ts'
import { drainBody } from './drain-body.ts'

/** A client that listens only after it has sent everything gets this long; it has no key. */
const MAX_DRAIN_MS = 5000

/**
 * Answers a request without a right key before its body has come, and ends the connection. The answer
 * goes out whole at once; it ends when the rest of the body has come, or at a limit, because
 * a connection that closes while bytes arrive is reset, and some clients would never see the answer.
 */
export function refuseUnread(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.raw.setHeader('connection', 'close')
  return sendError(error, request, reply, { toPayload: (text) => lingering(text, request) })
}

function lingering(text: string, { raw }: FastifyRequest): Readable {
  async function* pieces() {
    yield text
    await drainBody(raw, { maxMs: MAX_DRAIN_MS })
  }
  return Readable.from(pieces(), { objectMode: false })
}
