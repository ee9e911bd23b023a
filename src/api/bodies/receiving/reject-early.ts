import { Readable } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../../errors.ts'
import { sendError } from '../../middleware/errors.ts'
import { drainBody } from './drain-body.ts'

/**
 * How long the body of a client without a key is discarded; the client may read only after sending
 * it.
 */
const MAX_DRAIN_MS = 5000

/**
 * Responds to a request without a valid key before its body has arrived, and ends the connection.
 * The response is sent whole at once; the connection ends when the rest of the body has arrived, or
 * at a limit, because a connection that closes while bytes arrive is reset, and some clients would
 * never see the response.
 */
export function rejectEarly(
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
