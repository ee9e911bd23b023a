import { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { type AddOnError, brokenDown, timedOut } from './envelope.ts'
import type { ResultOptions } from './result.ts'

/** What is composed. `given` are steps that broke down or hung before. */
export type Composition = {
  id: number
  transcript: Transcript
  result: ResultOptions
  given: Record<string, AddOnError>
  /** The name of the step under way: a thread that breaks down takes its messages along, but not this. */
  step: SharedArrayBuffer
}

/** What the thread says about the composition `id`. */
export type FromThread = { id: number } & (
  | { kind: 'step'; name: string }
  | { kind: 'done'; text: string }
  | { kind: 'failed'; message: string }
)

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

type Outcome = { text: string } | { lost: string | undefined }

/**
 * Makes results of transcripts, one after the other, in a thread of its own: what is made of hours of
 * speech takes seconds, and the loop that serves everybody must not. A step that breaks the thread down
 * or takes too long is left out, says so in the result, and costs the others nothing.
 */
export class Composer {
  readonly #options: ComposerOptions
  #thread: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #nextId = 1

  constructor(options: ComposerOptions) {
    this.#options = options
  }

  /** The JSON text of a result; rejects when aborted. */
  compose(
    transcript: Transcript,
    result: ResultOptions,
    { signal }: { signal: AbortSignal },
  ): Promise<string> {
    const composed = this.#last.then(() => this.#compose(transcript, result, signal))
    this.#last = composed.catch(() => {})
    return composed
  }

  async close(): Promise<void> {
    await this.#thread?.terminate()
  }

  async #compose(transcript: Transcript, result: ResultOptions, signal: AbortSignal) {
    const given: Record<string, AddOnError> = {}
    for (;;) {
      signal.throwIfAborted()
      const step = new SharedArrayBuffer(MAX_NAME_BYTES)
      const composition = { id: this.#nextId++, transcript, result, given, step }
      const outcome = await this.#try(composition, signal)
      if ('text' in outcome) return outcome.text
      const { lost } = outcome
      signal.throwIfAborted()
      // In none: that is not the fault of an add-on.
      if (lost === undefined) throw new AppError('internal', 'no result was made')
    }
  }

  async #try(composition: Composition, signal: AbortSignal): Promise<Outcome> {
    const { log, patience = PATIENCE } = this.#options
    const { id, given, result } = composition
    const seconds = patience + result.audioDuration * PATIENCE_PER_SECOND
    const thread = this.#open()
    const ended = Promise.withResolvers<Outcome>()
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
      clearTimeout(watchdog)
      if (message.kind === 'done') ended.resolve({ text: message.text })
      else if (message.kind === 'failed') lose(brokenDown)
      else begin(message.name)
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
