import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

type Chunks = AsyncGenerator<string | Uint8Array>

/**
 * Sends a list while it is written. One that comes in a single chunk, as nearly all do, is sent
 * whole: a stream costs several times as much.
 */
export async function sendList(reply: FastifyReply, chunks: Chunks): Promise<FastifyReply> {
  reply.type('application/json; charset=utf-8')
  // The length of what HEAD discards is unknown.
  if (reply.request.method === 'HEAD') return reply.send(Readable.from(chunks))
  const first = await chunks.next()
  const second = first.done ? first : await chunks.next()
  if (second.done) return reply.send(first.value ?? '')
  const stream = Readable.from(startingWith([first.value!, second.value], chunks))
  // If a client disconnects at once, the generator never starts, and so never cleans up.
  stream.once('close', () => chunks.return(undefined))
  return reply.send(stream)
}

async function* startingWith(read: readonly (string | Uint8Array)[], rest: Chunks): Chunks {
  yield* read
  yield* rest
}
