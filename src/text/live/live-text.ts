import type { Log } from '../../log.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { Params } from '../add-on.ts'
import type { Envelope } from '../result/envelope.ts'
import { isLarge } from './large-params.ts'
import { OwnThreads } from './own-threads.ts'
import { type OpenSessionText, openSessionText, type SessionThreads } from './session-text.ts'
import { type AddOnStep, addOnSteps, transformSteps, type UtteranceWords } from './step-names.ts'
import { TextThread } from './text-thread.ts'

/** What texts of live sessions are made from. */
export type LiveTextOptions = {
  log: Log
  /** For tests: the program of the threads, the seconds that a step may take, and the time in milliseconds. */
  entry?: URL
  timeout?: number
  now?: () => number
}

/** A session: whose it is, its switches and their configurations, and the language that it is likely to be in. */
export type TextSession = { id: string; account: string; params: Params; language: string }

/** Words of a partial wait until those of finals are done. */
export type ChangeOptions = { signal: AbortSignal; isPartial?: boolean }

/** What is done with the texts of one session. */
export type SessionText = {
  /** The words as the customer writes them; where a step fails, as they were. Rejects when aborted. */
  change(spoken: UtteranceWords, options: ChangeOptions): Promise<readonly Word[]>
  /** What is found in utterances, which come as JSON text of an array. Rejects when aborted. */
  find(name: AddOnStep, said: string, options: { signal: AbortSignal }): Promise<Envelope>
  /** What the customer should know: what was left out so far, and why. */
  warnings(): string[]
  close(): Promise<void>
}

/** Seconds that a step may take: the largest vocabulary is prepared in one or two. */
const TIMEOUT = 15
/** Seconds for a step that others wait for and whose word lists are read: it takes milliseconds. */
const BRIEF = 3
/**
 * Works on what is said in live sessions, in threads: the loop that serves everybody must not. Short steps
 * share a thread, in which accounts take turns; summaries have another one. Sessions with a large vocabulary, those
 * that held up others and all of an account that broke the shared thread down work in threads of their account.
 */
export class LiveText {
  readonly #options: LiveTextOptions
  readonly #shared: TextThread
  readonly #summaries: TextThread
  readonly #own: OwnThreads
  /** Waits for the next session that must not share one. */
  #spare: TextThread | undefined
  /** What was prepared in the shared thread. */
  readonly #prepared = new Set<string>()
  readonly #preparations = new Map<OpenSessionText, TextThread>()
  /** Accounts that broke the shared thread down: they do not get it again. */
  readonly #apart = new Set<string>()

  constructor(options: LiveTextOptions) {
    this.#options = options
    const timeout = options.timeout ?? TIMEOUT
    this.#shared = this.#createThread({ brief: Math.min(timeout, BRIEF) })
    this.#summaries = this.#createThread()
    this.#own = new OwnThreads({
      create: () => this.#takeSpare() ?? this.#createThread(),
      end: (thread) => this.#close(thread),
    })
  }

  /**
   * A session was created, and its client will come: the threads that it needs start and read word lists, which
   * takes seconds the first time.
   */
  prepare({ params, language }: Omit<TextSession, 'id' | 'account'>): void {
    const wanted = [...transformSteps, ...addOnSteps].filter((name) => params[name] === true)
    const id = `preparation of ${wanted.join(', ')} in ${language}`
    if (wanted.length === 0 || (isLarge(params) ? this.#spare : this.#prepared.has(id))) return
    let utterances = this.#shared
    if (isLarge(params)) utterances = this.#spare = this.#createThread()
    else this.#prepared.add(id)
    // Without vocabularies: those are the session's own.
    const switches = Object.fromEntries(wanted.map((name) => [name, true]))
    const session = { id, account: PREPARATIONS, params: switches, language }
    const text = this.#openText(session, { utterances: () => utterances })
    this.#preparations.set(text, utterances)
    void text.prepared.then(() => {
      text.close()
      this.#preparations.delete(text)
    })
  }

  /** Takes a session; what it asks for is prepared behind this. */
  open(session: TextSession): SessionText {
    const { id, account, params } = session
    let utterances = isLarge(params) ? this.#own.take(account) : this.#shared
    const setApart = () => {
      if (utterances !== this.#shared || isClosed) return
      utterances.forget(id)
      utterances = this.#own.take(account)
    }
    let isClosed = false
    const text = this.#openText(session, {
      utterances: () => {
        if (this.#apart.has(account)) setApart()
        return utterances
      },
      setApart,
      onBroken: () => {
        if (utterances === this.#shared) this.#apart.add(account)
      },
    })
    const close = async () => {
      if (isClosed) return
      isClosed = true
      text.close()
      // It may have been set apart while something of it waited there.
      this.#shared.forget(id)
      await this.#own.release(account, utterances)
    }
    return { ...text, close }
  }

  async close(): Promise<void> {
    const spare = this.#spare ? [this.#spare] : []
    const threads = [this.#shared, this.#summaries, ...spare, ...this.#own.threads]
    await Promise.all(threads.map((thread) => this.#close(thread)))
  }

  async #close(thread: TextThread): Promise<void> {
    for (const [text, on] of this.#preparations) if (on === thread) text.close()
    await thread.close()
  }

  #openText(
    session: TextSession,
    threads: Pick<SessionThreads, 'utterances'> & Partial<SessionThreads>,
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

/** Whose turn it is when nothing but word lists are read: no account has this name. */
const PREPARATIONS = ''
