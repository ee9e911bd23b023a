import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

type Chunks = AsyncGenerator<string | Uint8Array>

/**
 * Sends a list while it is being written. A list of a single chunk, as nearly all are, is sent
 * without a stream, which would cost several times as much.
 */
export async function sendList(reply: FastifyReply, chunks: Chunks): Promise<FastifyReply> {
  reply.type('application/json; charset=utf-8')
  // For HEAD, the length of the omitted body is unknown.
  if (reply.request.method === 'HEAD') return reply.send(Readable.from(chunks))
  const first = await chunks.next()
  const second = first.done ? first : await chunks.next()
  if (second.done) return reply.send(first.value ?? '')
  const stream = Readable.from(prependChunks([first.value!, second.value], chunks))
  // If a client disconnects immediately, the generator never starts, and so does not clean up.
  stream.once('close', () => chunks.return(undefined))
  return reply.send(stream)
}

async function* prependChunks(
  firstChunks: readonly (string | Uint8Array)[],
  remainingChunks: Chunks,
): Chunks {
  yield* firstChunks
  yield* remainingChunks
}
