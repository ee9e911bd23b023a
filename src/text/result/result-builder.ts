import type { Transcript } from '../../transcript/transcript.ts'
import type { TextCapabilities } from '../add-ons/capabilities.ts'
import type { EditResult, EditTask } from '../edits/edit-task.ts'
import type { SearchableUtterance, SearchedResult } from '../search/searchable-utterances.ts'
import type { Merge } from './merge-responses.ts'
import type { Retry, RetryResult } from './steps/retry-add-on.ts'
import { AccountScheduler } from './threads/account-scheduler.ts'
import type { BuilderTask, Responses, ResultText } from './threads/result-task.ts'
import {
  type BuilderTaskOptions,
  ResultThread,
  type ResultThreadOptions,
} from './threads/result-thread.ts'
import type { TranscriptFile, WrittenTranscript } from './transcript-file.ts'
import type { TranscriptResultOptions } from './transcript-result.ts'

/** The options of `ResultBuilder`. */
export type ResultBuilderOptions = ResultThreadOptions & {
  /** For tests: the seconds a task waits before the second thread starts, and a clock in ms. */
  secondThreadDelay?: number
  now?: () => number
}

/** The account of a task, and the signal that aborts it. */
export type ResultTaskOptions = { account: string; signal: AbortSignal }

/**
 * Seconds that a task waits before a second thread starts; most builds take less. A thread takes 90
 * MB, and 165 MB with all word lists.
 */
const SECOND_THREAD_DELAY_SECONDS = 2
/** Milliseconds for which an account whose step crashed or hung may use only the second thread. */
const ISOLATION_MS = 3_600_000
/** The fewest characters of JSON for one word of a result. */
const CHARACTERS_PER_WORD = 60

/** The options of `describe`, which serves all accounts and does not take turns. */
const describeOptions = { account: '', words: 0, signal: new AbortController().signal }

type Work = (thread: ResultThread) => Promise<void>

/**
 * Builds results in its own threads: hours of speech take seconds, and the event loop must not
 * wait. Accounts take turns, with one build each at a time. After two seconds of waiting, a second
 * thread starts, which stays as long as it is needed. A step that crashes or hangs is left out and
 * reported in the result; the other steps are not affected. Redaction is never left out: if it
 * fails, the build fails. For an hour, an account whose step crashed or hung may use only the
 * second thread, so that the first one stays free for others.
 */
export class ResultBuilder {
  readonly #first: ResultThread
  readonly #second: ResultThread
  readonly #busy = new Set<ResultThread>()
  readonly #turns = new AccountScheduler<Work>()
  readonly #secondThreadDelay: number
  readonly #now: () => number
  /** The times until which accounts may use only the second thread. */
  readonly #isolatedUntil = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #described: Promise<TextCapabilities> | undefined

  constructor({
    secondThreadDelay = SECOND_THREAD_DELAY_SECONDS,
    now = Date.now,
    ...options
  }: ResultBuilderOptions) {
    this.#now = now
    this.#first = new ResultThread(options)
    this.#second = new ResultThread(options)
    this.#secondThreadDelay = secondThreadDelay
  }

  /** Builds a result. Rejects when aborted, and with `internal` when a required step failed. */
  build(
    transcript: Transcript,
    result: TranscriptResultOptions,
    options: ResultTaskOptions,
  ): Promise<ResultText> {
    const words = transcript.utterances.reduce((sum, { words }) => sum + words.length, 0)
    return this.#enqueue({ kind: 'build', transcript, result }, { ...options, words })
  }

  /** Writes the responses of services into a built result. Rejects as `build` does. */
  merge(merge: Merge, options: ResultTaskOptions): Promise<string> {
    const words = Math.ceil(merge.result.length / CHARACTERS_PER_WORD)
    return this.#enqueue({ kind: 'merge', merge }, { ...options, words })
  }

  /** Retries a failed add-on. Rejects as `build` does. */
  retry(retry: Retry, options: ResultTaskOptions): Promise<RetryResult> {
    const words = Math.ceil(retry.result.length / CHARACTERS_PER_WORD)
    return this.#enqueue({ kind: 'retry', retry }, { ...options, words })
  }

  /** Writes the words of a stored result as a file. Rejects as `build` does. */
  transcript(file: TranscriptFile, options: ResultTaskOptions): Promise<WrittenTranscript> {
    const words = Math.ceil(file.result.length / CHARACTERS_PER_WORD)
    return this.#enqueue({ kind: 'transcript', file }, { ...options, words })
  }

  /** Returns the utterances of a stored result as they are indexed. Rejects as `build` does. */
  searchable(searched: SearchedResult, options: ResultTaskOptions): Promise<SearchableUtterance[]> {
    const words = Math.ceil(searched.result.length / CHARACTERS_PER_WORD)
    return this.#enqueue({ kind: 'searchable', searched }, { ...options, words })
  }

  /** Adds corrections to those of a stored result, and describes them. Rejects as `build` does. */
  edit(edit: EditTask, options: ResultTaskOptions): Promise<EditResult> {
    const words = Math.ceil(edit.result.length / CHARACTERS_PER_WORD)
    return this.#enqueue({ kind: 'edit', edit }, { ...options, words })
  }

  /** Returns the capabilities of the text modules, which only a thread loads. */
  describe(): Promise<TextCapabilities> {
    this.#described ??= this.#enqueue({ kind: 'describe' }, describeOptions)
    this.#described.catch(() => {
      this.#described = undefined
    })
    return this.#described
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await Promise.all([this.#first.close(), this.#second.close()])
  }

  #enqueue<T extends BuilderTask>(
    task: T,
    { account, ...options }: ResultTaskOptions & BuilderTaskOptions,
  ): Promise<Responses[T['kind']]> {
    const { promise, resolve, reject } = Promise.withResolvers<Responses[T['kind']]>()
    const onLost = () => this.#isolatedUntil.set(account, this.#now() + ISOLATION_MS)
    this.#turns.add(account, (thread) =>
      thread.perform(task, { ...options, onLost }).then(resolve, reject),
    )
    this.#advance()
    return promise
  }

  /**
   * Gives the first thread its next task. Starts the second one if tasks still wait after a while.
   */
  #advance(): void {
    this.#begin(this.#first)
    if (!this.#turns.isWaiting()) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#begin(this.#second)
    }, this.#secondThreadDelay * 1000).unref()
  }

  /** Gives an idle thread the next task. */
  #begin(thread: ResultThread): void {
    if (this.#busy.has(thread)) return
    const next = this.#turns.take(
      (account) => thread === this.#second || !this.#isIsolated(account),
    )
    if (!next) return
    this.#busy.add(thread)
    void next.work(thread).then(() => {
      this.#busy.delete(thread)
      this.#turns.end(next.account)
      this.#advance()
      if (thread === this.#second) this.#useSecondThread()
    })
  }

  #isIsolated(account: string): boolean {
    const until = this.#isolatedUntil.get(account)
    if (until === undefined) return false
    if (until > this.#now()) return true
    this.#isolatedUntil.delete(account)
    return false
  }

  /** Gives the second thread the remaining tasks, or closes it to free its memory. */
  #useSecondThread(): void {
    this.#begin(this.#second)
    if (!this.#busy.has(this.#second)) void this.#second.close()
  }
}
