import { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { TextCapabilities } from './capabilities.ts'
import { type AddOnError, brokenDown, timedOut } from './envelope.ts'
import type { Fault } from './fault.ts'
import type { RedactedSpan } from './redaction/places.ts'
import type { ResultOptions } from './result.ts'
import type { Retried, Retry } from './retry.ts'

/** What the thread is asked for. */
export type Task =
  | { kind: 'compose'; transcript: Transcript; result: ResultOptions }
  | { kind: 'retry'; retry: Retry }
  | { kind: 'describe' }

/** What it answers. */
export type Answers = { compose: ComposedText; retry: Retried; describe: TextCapabilities }

/** A task in hand. `given` are steps that broke down or hung before. */
export type Composition = {
  id: number
  task: Task
  given: Record<string, AddOnError>
  /** The name of the step under way: a thread that breaks down takes its messages along, but not this. */
  step: SharedArrayBuffer
}

/** What the thread says about the composition `id`. */
export type FromThread = { id: number } & (
  | { kind: 'step'; name: string }
  /** A step that goes on threw what it should not. */
  | { kind: 'fault'; name: string; fault: Fault }
  | { kind: 'done'; answer: Answers[Task['kind']] }
  | { kind: 'failed'; fault: Fault }
  /** A step without which there must be no result failed; `message` quotes nothing. */
  | { kind: 'refused'; message: string }
)

/** The JSON text of a result, and what to silence in the sound; nothing where nothing was redacted. */
export type ComposedText = { text: string; redacted: RedactedSpan[] }

/** What composers are made from. */
export type ComposerOptions = {
  log: Log
  /** For tests: the program of the thread, and the seconds that a step may take. */
  entry?: URL
  patience?: number
}

/** Seconds that a step may take, whatever the length of the recording, and for each second of it. */
const PATIENCE = 30
const PATIENCE_PER_SECOND = 0.01
/** More than the transcript of the longest recording takes, many times over. */
const MAX_HEAP_MB = 1024

/** For what nobody waits for long. */
const NEVER = new AbortController().signal

/** No step has a longer name. */
const MAX_NAME_BYTES = 64

/** Notes which step begins. */
export function noteStep(step: SharedArrayBuffer, name: string): void {
  const bytes = new Uint8Array(step)
  bytes.fill(0)
  bytes.set(Buffer.from(name).subarray(0, bytes.length))
}

function readStep(step: SharedArrayBuffer): string | undefined {
  const name = Buffer.from(new Uint8Array(step)).toString().replace(/\0+$/, '')
  return name || undefined
}

type Outcome<T> = { answer: T } | { lost: string | undefined } | { refused: string }

/** How long a task may take, which grows with the recording (seconds), and what ends it. */
type TaskOptions = { audioDuration: number; signal: AbortSignal }

/**
 * Makes results of transcripts, one after the other, in a thread of its own: what is made of hours of
 * speech takes seconds, and the loop that serves everybody must not. A step that breaks the thread down
 * or takes too long is left out, says so in the result, and costs the others nothing. Only redaction is
 * never left out: when it fails, so does the composition.
 */
export class Composer {
  readonly #options: ComposerOptions
  #thread: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #nextId = 1
  #described: Promise<TextCapabilities> | undefined

  constructor(options: ComposerOptions) {
    this.#options = options
  }

  /** Composes a result; rejects when aborted, and with `internal` when a required step failed. */
  compose(
    transcript: Transcript,
    result: ResultOptions,
    { signal }: { signal: AbortSignal },
  ): Promise<ComposedText> {
    const { audioDuration } = result
    return this.#enqueue({ kind: 'compose', transcript, result }, { audioDuration, signal })
  }

  /** Makes an add-on again that had failed, likewise. */
  retry(retry: Retry, options: TaskOptions): Promise<Retried> {
    return this.#enqueue({ kind: 'retry', retry }, options)
  }

  /** What can be made of transcripts: only the thread loads what knows. */
  describe(): Promise<TextCapabilities> {
    this.#described ??= this.#enqueue({ kind: 'describe' }, { audioDuration: 0, signal: NEVER })
    this.#described.catch(() => {
      this.#described = undefined
    })
    return this.#described
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  #enqueue<T extends Task>(task: T, options: TaskOptions): Promise<Answers[T['kind']]> {
    const done = this.#last.then(() => this.#perform(task, options))
    this.#last = done.catch(() => {})
    return done
  }

  async #perform<T extends Task>(task: T, options: TaskOptions): Promise<Answers[T['kind']]> {
    const { signal } = options
    const given: Record<string, AddOnError> = {}
    for (;;) {
      signal.throwIfAborted()
      const step = new SharedArrayBuffer(MAX_NAME_BYTES)
      const composition = { id: this.#nextId++, task, given, step }
      const outcome = await this.#try<Answers[T['kind']]>(composition, options)
      if ('answer' in outcome) return outcome.answer
      if ('refused' in outcome) throw new AppError('internal', outcome.refused)
      const { lost } = outcome
      signal.throwIfAborted()
      // In none: that is not the fault of an add-on.
      if (lost === undefined) throw new AppError('internal', 'no result was made')
    }
  }

  async #try<T>(
    composition: Composition,
    { audioDuration, signal }: TaskOptions,
  ): Promise<Outcome<T>> {
    const { log, patience = PATIENCE } = this.#options
    const { id, given } = composition
    const seconds = patience + audioDuration * PATIENCE_PER_SECOND
    const thread = this.#open()
    const ended = Promise.withResolvers<Outcome<T>>()
    let watchdog: NodeJS.Timeout | undefined

    /** The thread is of no more use: what it was at is not tried again. */
    function lose(explain: (step: string) => AddOnError): void {
      const lost = readStep(composition.step)
      // One that was left out and is still what went wrong is not left out by saying so again.
      const isNew = lost !== undefined && !given[lost]
      if (isNew) given[lost] = explain(lost)
      ended.resolve({ lost: isNew ? lost : undefined })
    }
    function onMessage(message: FromThread): void {
      if (message.id !== id) return
      const { kind } = message
      if (kind !== 'fault') clearTimeout(watchdog)
      if (kind === 'fault') note(message.name, message.fault)
      else if (kind === 'done') ended.resolve({ answer: message.answer as T })
      else if (kind === 'refused') ended.resolve({ refused: message.message })
      else if (kind === 'step') begin(message.name)
      else {
        note(readStep(composition.step), message.fault)
        lose(brokenDown)
      }
    }
    function note(step: string | undefined, { name, frames }: Fault): void {
      log.error({ step, error: name, frames }, 'an add-on threw what it should not')
    }
    function begin(name: string): void {
      watchdog = setTimeout(() => {
        lose(() => timedOut(name, seconds))
        discard()
      }, seconds * 1000)
    }
    const onExit = () => lose(brokenDown)
    /** What comes next gets another one. */
    const discard = () => {
      if (this.#thread === thread) this.#thread = undefined
      void thread.terminate()
    }
    thread.on('message', onMessage)
    thread.once('exit', onExit)
    signal.addEventListener('abort', discard, { once: true })
    thread.ref()
    thread.postMessage(composition)
    try {
      const outcome = await ended.promise
      if ('lost' in outcome && !signal.aborted) {
        log.error({ step: outcome.lost }, 'an add-on broke down or hung')
      }
      return outcome
    } finally {
      clearTimeout(watchdog)
      thread.unref()
      thread.off('message', onMessage)
      thread.off('exit', onExit)
      signal.removeEventListener('abort', discard)
    }
  }

  #open(): Worker {
    if (this.#thread) return this.#thread
    const { entry = new URL('thread.ts', import.meta.url), log } = this.#options
    const thread = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
    this.#thread = thread
    // Its words may quote a transcript.
    thread.on('error', (error) =>
      log.error({ name: error.name }, 'the thread of results broke down'),
    )
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
    })
    thread.unref()
    return thread
  }
}
