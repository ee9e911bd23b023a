import { Readable } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../../errors.ts'
import { sendError } from '../../middleware/errors.ts'
import { drainBody } from './drain-body.ts'

/**
 * How long the server reads and discards the body of a client without a key, which may read the
 * response only after it has sent the body.
 */
const MAX_DRAIN_MS = 5000

/**
 * Responds to a request without a valid key before its body has arrived, and ends the connection.
 * The whole response is sent at once. The connection ends only when the rest of the body has
 * arrived, or at a limit: a connection that closes while bytes arrive is reset, and some clients
 * would never see the response.
 */
export function rejectEarly(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.raw.setHeader('connection', 'close')
  return sendError(error, request, reply, { toPayload: (text) => sendThenDrain(text, request) })
}

function sendThenDrain(text: string, { raw }: FastifyRequest): Readable {
  async function* parts() {
    yield text
    await drainBody(raw, { maxMs: MAX_DRAIN_MS })
  }
  return Readable.from(parts(), { objectMode: false })
}
