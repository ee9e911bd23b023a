import { secondsSince } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../observability/log.ts'
import type { CatalogModel } from './catalog.ts'
import { createTransferRate } from './download/transfer-rate.ts'
import type { InstallStep } from './install/install.ts'
import { suggestModel } from './recommend.ts'

/** The progress of a pull, 0 to 1, and the seconds left if they are known. */
export type PullProgress = { fraction: number; secondsLeft: number | null }

/** A pull that runs or waits, or that failed a moment ago. */
export type PullState = { name: string; progress: PullProgress } | { name: string; failure: string }

/**
 * Pulls a model. Rejects with an `Error` that names the file and the server, as far as users
 * may see it.
 */
export type RunPull = (
  model: CatalogModel,
  options: { signal: AbortSignal; onStep(step: InstallStep): void },
) => Promise<void>

export type PullQueueOptions = {
  run: RunPull
  /** Maximum memory that a model may take, in bytes. */
  memoryBytes: number
  log: Log
  /** Chooses a model for languages; for tests. */
  suggest?: (languages: readonly string[]) => CatalogModel | undefined
}

/** How a caller waits for a pull. */
export type QueuedPullOptions = {
  /** Ends the wait, not the pull. */
  signal: AbortSignal
  onProgress?: (progress: PullProgress) => void
}

type Pull = {
  model: CatalogModel
  progress: PullProgress
  done: Promise<void>
  listeners: Set<(progress: PullProgress) => void>
}

/** The share of a download in a pull; the rest is conversion and checks. */
const DOWNLOAD_SHARE = 0.9
/** How often the log reports the progress of a pull. */
const LOG_INTERVAL_MS = 10_000
/** For this long after a failure, live sessions do not request the same model again. */
const FAILURE_MS = 60_000

/**
 * Pulls the models that requests or operators need, one after the other; all who wait for a model
 * share one pull. A pull continues when no request waits for it any longer: the next request will
 * need it.
 */
export class PullQueue {
  readonly #options: PullQueueOptions
  readonly #pulls = new Map<string, Pull>()
  readonly #failures = new Map<string, { error: AppError; at: number }>()
  readonly #closing = new AbortController()
  #last: Promise<void> = Promise.resolve()

  constructor(options: PullQueueOptions) {
    this.#options = options
  }

  /** Returns the model to pull for languages that are missing; undefined when there is none. */
  suggest(languages: readonly string[]): CatalogModel | undefined {
    const { memoryBytes, suggest } = this.#options
    return suggest ? suggest(languages) : suggestModel(languages, { memoryBytes })
  }

  /** Returns the pulls that run or wait, in order, and those that failed a moment ago. */
  states(): PullState[] {
    const running = [...this.#pulls].map(([name, { progress }]) => ({ name, progress }))
    const failed = [...this.#failures.keys()].flatMap((name) => {
      const failure = this.#pulls.has(name) ? undefined : this.recentFailure({ id: name })
      return failure ? [{ name, failure: failure.message }] : []
    })
    return [...running, ...failed]
  }

  /** Returns the progress of the pull of a model; undefined when there is none. */
  progressOf({ id }: Pick<CatalogModel, 'id'>): PullProgress | undefined {
    return this.#pulls.get(id)?.progress
  }

  /** Returns why the last pull of a model failed, if that was a moment ago. */
  recentFailure({ id }: Pick<CatalogModel, 'id'>): AppError | undefined {
    const failure = this.#failures.get(id)
    return failure && performance.now() - failure.at < FAILURE_MS ? failure.error : undefined
  }

  /** Waits until a model is installed. Rejects with `model_pull_failed`. */
  async pull(
    model: CatalogModel,
    { signal, onProgress = () => {} }: QueuedPullOptions,
  ): Promise<void> {
    signal.throwIfAborted()
    const pull = this.#pulls.get(model.id) ?? this.#begin(model)
    pull.listeners.add(onProgress)
    onProgress(pull.progress)
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      await Promise.race([pull.done, aborted])
    } finally {
      signal.removeEventListener('abort', stop)
      pull.listeners.delete(onProgress)
    }
  }

  /** Ends all pulls; fetched files stay for the next one. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError('server_stopping'))
    await this.#last
  }

  #begin(model: CatalogModel): Pull {
    const progress = { fraction: 0, secondsLeft: null }
    const done = this.#last.then(() => this.#run(pull))
    const pull: Pull = { model, progress, done, listeners: new Set() }
    this.#pulls.set(model.id, pull)
    this.#last = done.catch(() => {})
    return pull
  }

  async #run(pull: Pull): Promise<void> {
    const { run, log } = this.#options
    const { model } = pull
    const { signal } = this.#closing
    const began = performance.now()
    try {
      signal.throwIfAborted()
      log.info({ model: model.id }, 'model is being pulled')
      await run(model, { signal, onStep: this.#follow(pull) })
      this.#failures.delete(model.id)
      const seconds = Math.round(secondsSince(began))
      log.info({ model: model.id, seconds }, 'model is installed')
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      log.error({ err: cause, model: model.id }, 'cannot pull the model')
      const detail = `${(cause as Error).message}; 'steno models pull ${model.id}' tries it again`
      const error = new AppError('model_pull_failed', detail, { cause })
      this.#failures.set(model.id, { error, at: performance.now() })
      throw error
    } finally {
      this.#pulls.delete(model.id)
    }
  }

  /** Returns a listener that converts the steps of an installation to progress. */
  #follow(pull: Pull): (step: InstallStep) => void {
    const rateOf = createTransferRate()
    let loggedAt = performance.now()
    return (step) => {
      if ('bytes' in step) {
        const rate = rateOf(step.bytes)
        const fraction = (DOWNLOAD_SHARE * step.bytes) / step.total
        const secondsLeft = rate ? Math.ceil((step.total - step.bytes) / rate) : null
        pull.progress = { fraction, secondsLeft }
      } else if (step.stage === 'converting') {
        const fraction = DOWNLOAD_SHARE + (1 - DOWNLOAD_SHARE) * step.fraction
        pull.progress = { fraction, secondsLeft: null }
      }
      for (const listener of pull.listeners) listener(pull.progress)
      if (performance.now() - loggedAt < LOG_INTERVAL_MS) return
      loggedAt = performance.now()
      const { fraction, secondsLeft } = pull.progress
      this.#options.log.info(
        { model: pull.model.id, fraction, secondsLeft },
        'model is being pulled',
      )
    }
  }
}
