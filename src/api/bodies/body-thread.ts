import { Worker } from 'node:worker_threads'
import { AppError, fromPlain, toPlain } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { BodyKind, BodyOutcomes, BodySettings, BodyTask } from './read-body.ts'
import type { FromThread } from './thread.ts'

/** Options of a body thread. */
export type BodyThreadOptions = {
  settings: BodySettings
  log: Log
  /** For tests: the program of the thread, and the milliseconds that a body may take. */
  entry?: URL
  timeoutMs?: number
}

/**
 * The largest body takes a tenth of a second, the start of the thread one second: a longer call
 * hangs.
 */
const TIMEOUT_MS = 15_000
/** A megabyte of JSON may become a hundred megabytes of small values. */
const MAX_HEAP_MB = 256

type Waiting = { task: BodyTask; outcome: PromiseWithResolvers<unknown> }

/**
 * A thread that reads one body at a time, in order of arrival; it starts with the first one. A body
 * that crashes it or takes too long is refused without an effect on the others: another thread
 * replaces it.
 */
export class BodyThread {
  readonly #options: BodyThreadOptions
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined
  #current: Waiting | undefined
  #watchdog: NodeJS.Timeout | undefined

  constructor(options: BodyThreadOptions) {
    this.#options = options
  }

  /** Reads a body, whose bytes are transferred; rejects as the body reader does. */
  read<K extends BodyKind>(task: BodyTask<K>): Promise<BodyOutcomes[K]> {
    const outcome = Promise.withResolvers<unknown>()
    this.#waiting.push({ task, outcome })
    this.#advance()
    return outcome.promise as Promise<BodyOutcomes[K]>
  }

  /**
   * Ends the thread, and refuses the current and the waiting bodies; a further body starts another
   * thread.
   */
  async close(): Promise<void> {
    const left = this.#waiting.splice(0)
    if (this.#current) left.unshift(this.#current)
    clearTimeout(this.#watchdog)
    this.#current = undefined
    const worker = this.#worker
    this.#worker = undefined
    for (const { outcome } of left) outcome.reject(new AppError('server_stopping'))
    await worker?.terminate()
  }

  #advance(): void {
    if (this.#current) return
    const current = this.#waiting.shift()
    if (!current) return
    this.#current = current
    const worker = this.#open()
    worker.ref()
    const { timeoutMs = TIMEOUT_MS } = this.#options
    this.#watchdog = setTimeout(() => this.#lose(worker), timeoutMs)
    const { bytes } = current.task
    worker.postMessage(current.task, isWhole(bytes) ? [bytes.buffer] : [])
  }

  #end(answer: FromThread): void {
    clearTimeout(this.#watchdog)
    this.#worker?.unref()
    const current = this.#current
    this.#current = undefined
    if (answer.kind === 'read') current?.outcome.resolve(answer.outcome)
    else current?.outcome.reject(fromPlain(answer.error))
    this.#advance()
  }

  /** The thread is unusable, and its current body is refused. */
  #lose(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    void worker.terminate()
    if (!this.#current) return
    this.#options.log.error('reading a body broke down or hung')
    const error = new AppError('body_unreadable', 'it takes too much time or memory')
    this.#end({ kind: 'refused', error: toPlain(error) })
  }

  #open(): Worker {
    if (this.#worker) return this.#worker
    const { entry = new URL('thread.ts', import.meta.url), settings, log } = this.#options
    const worker = new Worker(entry, {
      workerData: { models: settings.models, requests: settings.requests },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    this.#worker = worker
    worker.on('message', (answer: FromThread) => {
      if (this.#worker === worker) this.#end(answer)
    })
    // Its message may quote the body.
    worker.on('error', ({ name }) => log.error({ name }, 'the thread of bodies broke down'))
    worker.once('exit', () => this.#lose(worker))
    return worker
  }
}

/** Small buffers are parts of a shared one, which must not be transferred. */
function isWhole(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
}
