import type { Log } from '../../log.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { Params } from '../add-on.ts'
import type { Envelope } from '../envelope.ts'
import { type OpenSessionText, openSessionText } from './session-text.ts'
import { changes, type FindingName, findings, type SpokenWords } from './step-names.ts'
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
  /** Waits for the next session that has to have one of its own. */
  #spare: TextThread | undefined
  /** What was prepared in the shared thread. */
  readonly #prepared = new Set<string>()
  readonly #preparations = new Map<OpenSessionText, TextThread>()

  constructor(options: LiveTextOptions) {
    this.#options = options
    this.#shared = this.#createThread()
    this.#summaries = this.#createThread()
  }

  /**
   * A session was created, and its client will come: the threads that it needs start and read word lists, which
   * takes seconds the first time.
   */
  prepare({ params, language }: Omit<TextSession, 'id'>): void {
    const wanted = [...changes, ...findings].filter((name) => params[name] === true)
    const id = `preparation of ${wanted.join(', ')} in ${language}`
    if (wanted.length === 0 || (isLarge(params) ? this.#spare : this.#prepared.has(id))) return
    let utterances = this.#shared
    if (isLarge(params)) utterances = this.#spare = this.#createThread()
    else this.#prepared.add(id)
    const { log } = this.#options
    const threads = { utterances, summaries: this.#summaries, log }
    // Without vocabularies: those are the session's own.
    const switches = Object.fromEntries(wanted.map((name) => [name, true]))
    const text = openSessionText({ id, params: switches, language }, threads)
    this.#preparations.set(text, utterances)
    void text.prepared.then(() => {
      text.close()
      this.#preparations.delete(text)
    })
  }

  /** Takes a session; what it asks for is prepared behind this. */
  open(session: TextSession): SessionText {
    const [utterances, summaries] = [this.#threadFor(session), this.#summaries]
    const text = openSessionText(session, { utterances, summaries, log: this.#options.log })
    const close = async () => {
      text.close()
      if (this.#own.delete(utterances)) await this.#close(utterances)
    }
    return { ...text, close }
  }

  async close(): Promise<void> {
    const spare = this.#spare ? [this.#spare] : []
    const threads = [this.#shared, this.#summaries, ...spare, ...this.#own]
    await Promise.all(threads.map((thread) => this.#close(thread)))
  }

  async #close(thread: TextThread): Promise<void> {
    for (const [text, on] of this.#preparations) if (on === thread) text.close()
    await thread.close()
  }

  #threadFor({ params }: TextSession): TextThread {
    if (!isLarge(params)) return this.#shared
    const thread = this.#spare ?? this.#createThread()
    this.#spare = undefined
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
