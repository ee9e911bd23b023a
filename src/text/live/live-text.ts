import type { Log } from '../../log.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { Params } from '../add-on.ts'
import type { Envelope } from '../envelope.ts'
import { openSessionText } from './session-text.ts'
import type { FindingName, SpokenWords } from './step-names.ts'
import { TextThread } from './text-thread.ts'

/** What texts of live sessions are made from. */
export type LiveTextOptions = {
  log: Log
  /** For tests: the program of the threads, and the seconds that a step may take. */
  entry?: URL
  patience?: number
}

/** A session: its switches and their configurations, and the language that it is likely to be in. */
export type TextSession = { id: string; params: Params; language: string }

/** Words of a partial wait until those of finals are done. */
export type ChangeOptions = { signal: AbortSignal; isPartial?: boolean }

/** What is done with the texts of one session. */
export type SessionText = {
  /** The words as the customer writes them; where a step fails, as they were. Rejects when aborted. */
  change(spoken: SpokenWords, options: ChangeOptions): Promise<readonly Word[]>
  /** What is found in utterances, which come as JSON text of an array. Rejects when aborted. */
  find(name: FindingName, said: string, options: { signal: AbortSignal }): Promise<Envelope>
  close(): Promise<void>
}

/** Seconds that a step may take: the largest vocabulary is prepared in one or two. */
const PATIENCE = 15
/** A larger vocabulary, in entries, takes more than 50 ms to prepare: others must not wait for it. */
const LARGE_VOCABULARY = 500

/**
 * Works on what is said in live sessions, in threads: the loop that serves everybody must not. Short steps
 * share a thread; summaries have another one, and so has each session with a large vocabulary.
 */
export class LiveText {
  readonly #options: LiveTextOptions
  readonly #shared: TextThread
  readonly #summaries: TextThread
  readonly #own = new Set<TextThread>()

  constructor(options: LiveTextOptions) {
    this.#options = options
    this.#shared = this.#createThread()
    this.#summaries = this.#createThread()
  }

  /** Takes a session; what it asks for is prepared behind this. */
  open(session: TextSession): SessionText {
    const [utterances, summaries] = [this.#threadFor(session), this.#summaries]
    const text = openSessionText(session, { utterances, summaries, log: this.#options.log })
    const close = async () => {
      text.close()
      if (this.#own.delete(utterances)) await utterances.close()
    }
    return { ...text, close }
  }

  async close(): Promise<void> {
    const threads = [this.#shared, this.#summaries, ...this.#own]
    await Promise.all(threads.map((thread) => thread.close()))
  }

  #threadFor({ params }: TextSession): TextThread {
    if (!isLarge(params)) return this.#shared
    const thread = this.#createThread()
    this.#own.add(thread)
    return thread
  }

  #createThread(): TextThread {
    return new TextThread({ patience: PATIENCE, ...this.#options })
  }
}

function isLarge(params: Params): boolean {
  const config = params.custom_vocabulary_config as { vocabulary?: readonly unknown[] } | undefined
  return params.custom_vocabulary === true && (config?.vocabulary?.length ?? 0) > LARGE_VOCABULARY
}
