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
  secondAfter?: number
  now?: () => number
}

/** The account of a task, and the signal that aborts it. */
export type ResultTaskOptions = { account: string; signal: AbortSignal }

/** Longer than most builds take: another thread takes 90 MB, and 165 MB with all word lists. */
const SECOND_AFTER = 2
/** Milliseconds for which an account that lost a step gets the second thread only. */
const SET_APART_FOR = 3_600_000
/** JSON characters of one word of a result, at least. */
const CHARACTERS_PER_WORD = 60

/** `describe` serves all accounts, and waits for no account's turn. */
const describing = { account: '', words: 0, signal: new AbortController().signal }

type Work = (thread: ResultThread) => Promise<void>

/**
 * Builds results in threads of its own: hours of speech take seconds, and the event loop must not
 * wait. Accounts take turns, one build of each at a time, so that none waits behind everything
 * another one submits. After two seconds of waiting a second thread starts, and stays as long as it
 * is needed. A step that breaks down is left out, is reported in the result, and costs the other
 * steps nothing. Only redaction is never left out: when it fails, so does the build. An account of
 * which a step hung or crashed its thread gets the second thread only for an hour, so that the
 * first one stays free for the others.
 */
export class ResultBuilder {
  readonly #first: ResultThread
  readonly #second: ResultThread
  readonly #busy = new Set<ResultThread>()
  readonly #turns = new AccountScheduler<Work>()
  readonly #secondAfter: number
  readonly #now: () => number
  /** Until when accounts get the second thread only. */
  readonly #apart = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #described: Promise<TextCapabilities> | undefined

  constructor({ secondAfter = SECOND_AFTER, now = Date.now, ...options }: ResultBuilderOptions) {
    this.#now = now
    this.#first = new ResultThread(options)
    this.#second = new ResultThread(options)
    this.#secondAfter = secondAfter
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

  /**
   * Returns the capabilities of the text modules. Only a thread loads the modules that know them.
   */
  describe(): Promise<TextCapabilities> {
    this.#described ??= this.#enqueue({ kind: 'describe' }, describing)
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
    const onLost = () => this.#apart.set(account, this.#now() + SET_APART_FOR)
    this.#turns.add(account, (thread) =>
      thread.perform(task, { ...options, onLost }).then(resolve, reject),
    )
    this.#advance()
    return promise
  }

  /**
   * Gives the first thread its next task, and starts the second one for tasks that still wait after
   * a while.
   */
  #advance(): void {
    this.#begin(this.#first)
    if (!this.#turns.isWaiting()) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#begin(this.#second)
    }, this.#secondAfter * 1000).unref()
  }

  /** Gives a free thread the next task. */
  #begin(thread: ResultThread): void {
    if (this.#busy.has(thread)) return
    const next = this.#turns.take((account) => thread === this.#second || !this.#isApart(account))
    if (!next) return
    this.#busy.add(thread)
    void next.work(thread).then(() => {
      this.#busy.delete(thread)
      this.#turns.end(next.account)
      this.#advance()
      if (thread === this.#second) this.#goOn()
    })
  }

  #isApart(account: string): boolean {
    const until = this.#apart.get(account)
    if (until === undefined) return false
    if (until > this.#now()) return true
    this.#apart.delete(account)
    return false
  }

  /** Gives the second thread what is left, or closes it to free its memory. */
  #goOn(): void {
    this.#begin(this.#second)
    if (!this.#busy.has(this.#second)) void this.#second.close()
  }
}
