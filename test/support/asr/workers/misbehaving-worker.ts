/** The worker process of pool.test.ts: the path of a task selects its behavior. */

import { once } from 'node:events'
import type { FromWorker, ToWorker } from '../../../../src/asr/workers/worker-protocol.ts'
import { AppError, toPlain } from '../../../../src/errors.ts'
import { blockThread } from '../../workers/block-thread.ts'

process.on('disconnect', () => process.exit())

function send(message: FromWorker | { type: 'result'; id: number; result: unknown }): void {
  process.send?.(message)
}

const canceled = new EventTarget()
/** How often the task `until-signal` has begun. */
let begun = 0
/** Resolves with the next signal, which may come before the task that it ends. */
let signaled = Promise.withResolvers<void>()
process.on('SIGUSR2', () => signaled.resolve())

async function perform(id: number, behavior: string): Promise<void> {
  switch (behavior) {
    case 'crash':
      process.abort()
      break
    case 'hang':
      blockThread()
      break
    case 'fail':
      send({ type: 'error', id, error: toPlain(new AppError('storage_unreadable')) })
      return
    case 'wait':
      await once(canceled, String(id))
      break
    // Runs until it is canceled, or until a signal ends it.
    case 'until-signal': {
      const run = ++begun
      const isCanceled = once(canceled, String(id)).then(() => true)
      const wasCanceled = await Promise.race([isCanceled, signaled.promise.then(() => false)])
      if (wasCanceled) return send({ type: 'error', id, error: toPlain(new Error('canceled')) })
      signaled = Promise.withResolvers<void>()
      return send({ type: 'result', id, result: { pid: process.pid, run } })
    }
  }
  send({ type: 'result', id, result: process.pid })
}

process.on('message', (message: ToWorker) => {
  if ('cancel' in message) canceled.dispatchEvent(new Event(String(message.id)))
  else if (message.task.kind === 'detect') void perform(message.id, message.task.path)
})

if (process.argv[2] === 'broken') {
  send({ type: 'broken', error: toPlain(new AppError('engine_unavailable', 'no model here')) })
} else {
  send({ type: 'ready' })
}
