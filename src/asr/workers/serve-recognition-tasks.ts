import { flushCompileCache } from 'node:module'
import { AppError, toPlain } from '../../errors.ts'
import type { FromWorker, TaskResult, ToWorker, WorkerTask } from './worker-protocol.ts'

/** Runs one task of a worker process. */
export type Perform = (
  task: WorkerTask,
  signal: AbortSignal,
) => Promise<TaskResult[WorkerTask['kind']]>

/**
 * Makes this process a worker: loads its models, then runs the tasks that its parent sends. It has
 * no state outside its memory, so it may be killed at any time, and it exits with its parent.
 */
export async function serveRecognitionTasks(load: () => Promise<Perform>): Promise<void> {
  process.on('disconnect', () => process.exit())
  // Ctrl-C reaches all processes of a terminal; the server alone decides when work ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  const running = new Map<number, AbortController>()

  async function respond(perform: Perform, id: number, task: WorkerTask): Promise<void> {
    const controller = new AbortController()
    running.set(id, controller)
    try {
      send({ type: 'result', id, result: await perform(task, controller.signal) })
    } catch (error) {
      send({ type: 'error', id, error: toPlain(error) })
    } finally {
      running.delete(id)
    }
  }

  try {
    const perform = await load()
    process.on('message', (message: ToWorker) => {
      if ('cancel' in message) running.get(message.id)?.abort()
      else void respond(perform, message.id, message.task)
    })
    send({ type: 'ready' })
    // Writes the compile cache now, because a worker ends by being killed.
    flushCompileCache()
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause)
    send({ type: 'broken', error: toPlain(new AppError('engine_unavailable', detail, { cause })) })
  }
}

function send(message: FromWorker): void {
  process.send?.(message)
}
