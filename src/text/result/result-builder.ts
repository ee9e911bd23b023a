import type { Transcript } from '../../transcript/transcript.ts'
import type { TextCapabilities } from '../capabilities.ts'
import { AccountTurns } from './account-turns.ts'
import type { Answers, ResultText, Task } from './result-task.ts'
import type { ResultOptions } from './result-text.ts'
import { ResultThread, type ResultThreadOptions, type TaskOptions } from './result-thread.ts'
import type { Retried, Retry } from './retry.ts'

/** What composers are made from. */
export type ResultBuilderOptions = ResultThreadOptions & {
  /** For tests: the seconds that a composition waits before it has a second thread started, and the time in ms. */
  secondAfter?: number
  now?: () => number
}

/** Whose composition it is, and what ends it. */
export type ResultTaskOptions = { account: string; signal: AbortSignal }

/** Longer than most compositions take: another thread takes 90 MB, and 165 MB with all word lists. */
const SECOND_AFTER = 2
/** So long, in milliseconds, an account that lost a step has the second thread only. */
const SET_APART_FOR = 3_600_000
/** JSON characters of one word of a result, at least. */
const CHARACTERS_PER_WORD = 60

/** Whoever asks what can be made asks for all accounts, and waits for none of them. */
const describing = { account: '', words: 0, signal: new AbortController().signal }

type Work = (thread: ResultThread) => Promise<void>

/**
 * Makes results of transcripts in threads of its own: what is made of hours of speech takes seconds, and the
 * loop that serves everybody must not. Accounts take turns, one composition of each at a time, so that none
 * waits behind all that another one brings; after two seconds of waiting there is a second thread, as long as somebody
 * needs it. A step that breaks down is left out, says so in the result, and costs the others nothing. Only redaction
 * is never left out: when it fails, so does the composition. An account of which a step hung or broke its thread
 * down has the second thread only for an hour: the first one stays free for the others.
 */
export class ResultBuilder {
  readonly #first: ResultThread
  readonly #second: ResultThread
  readonly #busy = new Set<ResultThread>()
  readonly #turns = new AccountTurns<Work>()
  readonly #secondAfter: number
  readonly #now: () => number
  /** Until when accounts have the second thread only. */
  readonly #apart = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #described: Promise<TextCapabilities> | undefined

  constructor({ secondAfter = SECOND_AFTER, now = Date.now, ...options }: ResultBuilderOptions) {
    this.#now = now
    this.#first = new ResultThread(options)
    this.#second = new ResultThread(options)
    this.#secondAfter = secondAfter
  }

  /** Composes a result; rejects when aborted, and with `internal` when a required step failed. */
  build(
    transcript: Transcript,
    result: ResultOptions,
    options: ResultTaskOptions,
  ): Promise<ResultText> {
    const words = transcript.utterances.reduce((sum, { words }) => sum + words.length, 0)
    return this.#enqueue({ kind: 'build', transcript, result }, { ...options, words })
  }

  /** Makes an add-on again that had failed, likewise. */
  retry(retry: Retry, options: ResultTaskOptions): Promise<Retried> {
    const words = Math.ceil(retry.result.length / CHARACTERS_PER_WORD)
    return this.#enqueue({ kind: 'retry', retry }, { ...options, words })
  }

  /** What can be made of transcripts: only a thread loads what knows. */
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

  #enqueue<T extends Task>(
    task: T,
    { account, ...options }: ResultTaskOptions & TaskOptions,
  ): Promise<Answers[T['kind']]> {
    const { promise, resolve, reject } = Promise.withResolvers<Answers[T['kind']]>()
    const onLost = () => this.#apart.set(account, this.#now() + SET_APART_FOR)
    this.#turns.add(account, (thread) =>
      thread.perform(task, { ...options, onLost }).then(resolve, reject),
    )
    this.#advance()
    return promise
  }

  /** The first thread goes on; who still waits after a while has the second one started. */
  #advance(): void {
    this.#begin(this.#first)
    if (!this.#turns.isWaiting()) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#begin(this.#second)
    }, this.#secondAfter * 1000).unref()
  }

  /** Gives a thread, if it is free, what comes next. */
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

  /** The second thread does what is left; without anything it gives its memory back. */
  #goOn(): void {
    this.#begin(this.#second)
    if (!this.#busy.has(this.#second)) void this.#second.close()
  }
}
