import type { Log } from '../../observability/log.ts'
import { DedicatedThreads } from './dedicated-threads.ts'
import { isLarge } from './large-params.ts'
import {
  type OpenSessionText,
  openSessionText,
  type SessionText,
  type SessionThreads,
  type TextSession,
} from './session-text.ts'
import { addOnSteps, transformSteps } from './step-names.ts'
import { TextThread } from './text-thread.ts'

/** The options of `LiveText`. */
export type LiveTextOptions = {
  log: Log
  /**
   * For tests: the thread's entry file, the timeout of a step in seconds, and a clock in
   * milliseconds.
   */
  entry?: URL
  timeout?: number
  now?: () => number
}

/** Timeout of a step in seconds. The largest vocabulary takes one or two to prepare. */
const TIMEOUT = 15
/**
 * Timeout in seconds of a step that others wait for and whose word lists are loaded: it takes
 * milliseconds.
 */
const SHORT_TIMEOUT = 3

/**
 * Runs the text steps of live sessions in threads, so that they never block the event loop. Short
 * steps share one thread, in which accounts take turns. Summaries have another one. Three kinds of
 * session run in threads of their own account: those with a large vocabulary, those that delayed
 * others, and every session of an account that crashed the shared thread.
 */
export class LiveText {
  readonly #options: LiveTextOptions
  readonly #shared: TextThread
  readonly #summaries: TextThread
  readonly #own: DedicatedThreads
  /** A thread that is ready for the next session that must not use the shared thread. */
  #spare: TextThread | undefined
  /** The steps prepared in the shared thread. */
  readonly #prepared = new Set<string>()
  readonly #preparations = new Map<OpenSessionText, TextThread>()
  /** Accounts that crashed the shared thread and may not use it again. */
  readonly #isolatedAccounts = new Set<string>()

  constructor(options: LiveTextOptions) {
    this.#options = options
    this.#shared = this.#createThread({ brief: options.timeout ?? SHORT_TIMEOUT })
    this.#summaries = this.#createThread()
    this.#own = new DedicatedThreads({
      create: () => this.#takeSpare() ?? this.#createThread(),
      end: (thread) => this.#close(thread),
    })
  }

  /**
   * Prepares for the client of a session that was just created: starts the threads that it needs
   * and loads their word lists, which takes seconds the first time.
   */
  prepare({ params, language }: Omit<TextSession, 'id' | 'account'>): void {
    const requestedSteps = [...transformSteps, ...addOnSteps].filter(
      (name) => params[name] === true,
    )
    const id = `preparation of ${requestedSteps.join(', ')} in ${language}`
    if (requestedSteps.length === 0 || (isLarge(params) ? this.#spare : this.#prepared.has(id)))
      return
    let thread = this.#shared
    if (isLarge(params)) thread = this.#spare = this.#createThread()
    else this.#prepared.add(id)
    // Without vocabularies: those belong to the session.
    const switches = Object.fromEntries(requestedSteps.map((name) => [name, true]))
    const session = { id, account: WARMUP_ACCOUNT, params: switches, language }
    const text = this.#openText(session, { finals: () => thread })
    this.#preparations.set(text, thread)
    void text.prepared.then(() => {
      text.close()
      this.#preparations.delete(text)
    })
  }

  /** Opens a session and starts to prepare its steps in the background. */
  open(session: TextSession): SessionText {
    const { id, account, params } = session
    let thread = isLarge(params) ? this.#own.take(account) : this.#shared
    const setApart = () => {
      if (thread !== this.#shared || isClosed) return
      thread.drop(id)
      thread = this.#own.take(account)
    }
    let isClosed = false
    const text = this.#openText(session, {
      finals: () => {
        if (this.#isolatedAccounts.has(account)) setApart()
        return thread
      },
      setApart,
      onBroken: () => {
        if (thread === this.#shared) this.#isolatedAccounts.add(account)
      },
    })
    const close = async () => {
      if (isClosed) return
      isClosed = true
      text.close()
      // The session may have been moved to its own thread while a task of it waited in the shared
      // one.
      this.#shared.drop(id)
      await this.#own.release(account, thread)
    }
    return { ...text, close }
  }

  async close(): Promise<void> {
    const spare = this.#spare ? [this.#spare] : []
    const threads = [this.#shared, this.#summaries, ...spare, ...this.#own.threads]
    await Promise.all(threads.map((thread) => this.#close(thread)))
  }

  async #close(thread: TextThread): Promise<void> {
    for (const [text, textThread] of this.#preparations) if (textThread === thread) text.close()
    await thread.close()
  }

  #openText(
    session: TextSession,
    threads: Pick<SessionThreads, 'finals'> & Partial<SessionThreads>,
  ): OpenSessionText {
    const { log, now = () => performance.now() } = this.#options
    const none = { setApart() {}, onBroken() {} }
    return openSessionText(session, {
      threads: { ...none, ...threads, summaries: this.#summaries },
      log,
      now,
    })
  }

  #takeSpare(): TextThread | undefined {
    const spare = this.#spare
    this.#spare = undefined
    return spare
  }

  #createThread(options: { brief?: number } = {}): TextThread {
    return new TextThread({ timeout: TIMEOUT, ...this.#options, ...options })
  }
}

/** The account for tasks that only load word lists. No real account has this name. */
const WARMUP_ACCOUNT = ''
