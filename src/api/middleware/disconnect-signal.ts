import type { FastifyReply } from 'fastify'
import { AppError } from '../../errors.ts'

/** Returns a signal that aborts when the client disconnects before its response. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => {
    if (raw.writableFinished) return
    controller.abort(new AppError('upload_invalid', 'the client disconnected'))
  })
  return controller.signal
}
