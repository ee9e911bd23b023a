import { AppError, fromPlain } from '../../../errors.ts'
import type { Log } from '../../../observability/log.ts'
import { threadStarter } from '../../../workers/start-worker.ts'
import { SupervisedWorker, type WorkerOutcome } from '../../../workers/supervised-worker.ts'
import type { FromBodyThread } from './body-thread-entry.ts'
import type { BodyKind, BodyOutcomes, BodySettings, BodyTask } from './parse-body.ts'

/** Options of a body thread. */
export type BodyThreadOptions = {
  settings: BodySettings
  log: Log
  /** For tests: the entry file of the thread, and the milliseconds that a body may take. */
  entry?: URL
  timeoutMs?: number
}

/**
 * The largest body takes a tenth of a second, and the thread starts in one second, so the thread
 * hangs after this time.
 */
const TIMEOUT_MS = 15_000
/** A megabyte of JSON may become a hundred megabytes of small values. */
const MAX_HEAP_MB = 256

type PendingBody = { task: BodyTask; outcome: PromiseWithResolvers<unknown> }

/**
 * A thread that reads one body at a time, in order of arrival; the first body starts it. A body
 * that crashes the thread or takes too long is refused; the other bodies are not affected, because
 * another thread replaces it.
 */
export class BodyThread {
  readonly #options: BodyThreadOptions
  readonly #waiting: PendingBody[] = []
  readonly #worker: SupervisedWorker<FromBodyThread>
  #current: PendingBody | undefined

  constructor(options: BodyThreadOptions) {
    this.#options = options
    const { entry = new URL('body-thread-entry.ts', import.meta.url), settings, log } = options
    const workerData = { models: settings.models, requests: settings.requests }
    this.#worker = new SupervisedWorker({
      start: threadStarter(entry, { maxHeapMb: MAX_HEAP_MB, workerData }),
      // The message of the error may quote the body.
      onError: ({ name }) => log.error({ name }, 'the body thread crashed'),
    })
  }

  /** Reads a body, whose bytes are transferred; rejects as the body reader does. */
  read<K extends BodyKind>(task: BodyTask<K>): Promise<BodyOutcomes[K]> {
    const outcome = Promise.withResolvers<unknown>()
    this.#waiting.push({ task, outcome })
    this.#advance()
    return outcome.promise as Promise<BodyOutcomes[K]>
  }

  /**
   * Ends the thread, and rejects the current and the waiting bodies. A later body starts another
   * thread.
   */
  async close(): Promise<void> {
    const waitingBodies = this.#waiting.splice(0)
    if (this.#current) waitingBodies.unshift(this.#current)
    this.#current = undefined
    for (const { outcome } of waitingBodies) outcome.reject(new AppError('server_stopping'))
    await this.#worker.close()
  }

  #advance(): void {
    if (this.#current) return
    const current = this.#waiting.shift()
    if (!current) return
    this.#current = current
    const { bytes } = current.task
    const { timeoutMs = TIMEOUT_MS } = this.#options
    const ended = this.#worker.run(current.task, {
      transfer: ownsItsBuffer(bytes) ? [bytes.buffer] : [],
      timeout: timeoutMs / 1000,
      receive: (response) => response,
    })
    void ended.then((outcome) => this.#end(current, outcome))
  }

  #end(current: PendingBody, workerOutcome: WorkerOutcome<FromBodyThread>): void {
    // `close` has already rejected it.
    if (this.#current !== current) return
    this.#current = undefined
    const { outcome } = current
    if ('lost' in workerOutcome) {
      this.#options.log.error('the body parser crashed or hung')
      outcome.reject(new AppError('body_unreadable', 'it takes too much time or memory'))
    } else if (workerOutcome.response.kind === 'read')
      outcome.resolve(workerOutcome.response.outcome)
    else outcome.reject(fromPlain(workerOutcome.response.error))
    this.#advance()
  }
}

/** Small buffers are parts of a shared one, which must not be transferred. */
function ownsItsBuffer(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
}
