import type { Log } from '../../log.ts'
import type { Word } from '../../transcript/transcript.ts'
import { brokenDown, type Envelope, failed, timedOut } from '../envelope.ts'
import type { SessionText, TextSession } from './live-text.ts'
import { changes, findings } from './step-names.ts'
import type { Task, TaskOutcome, TextThread } from './text-thread.ts'

/** The threads that work for a session. */
export type SessionTextOptions = { utterances: TextThread; summaries: TextThread; log: Log }

/** What is late for somebody goes first. */
const RANK = { final: 0, partial: 1, preparation: 2 }

/** The texts of a session; `prepared` resolves when nothing has to be read any more, or they were closed. */
export type OpenSessionText = Omit<SessionText, 'close'> & {
  prepared: Promise<void>
  close(): void
}

type RunOptions = { rank: number; signal: AbortSignal }

/**
 * Works on the texts of one session. A step that hung or broke its thread down is left out from then on:
 * tried again with every utterance, it would hold up all sessions.
 */
export function openSessionText(
  { id, params, language }: TextSession,
  { utterances, summaries, log }: SessionTextOptions,
): OpenSessionText {
  const wanted = changes.filter((name) => params[name] === true)
  const lost = new Map<Task['name'], TaskOutcome>()
  const closing = new AbortController()

  async function run(task: Task, options: RunOptions): Promise<TaskOutcome> {
    const { name } = task
    const before = lost.get(name)
    if (before) return before
    const thread = name === 'summarization' ? summaries : utterances
    const outcome = await thread.run(task, { ...options, session: id, params })
    const fault =
      outcome.kind === 'done' || outcome.kind === 'failed' ? outcome.fault : outcome.kind
    if (outcome.kind === 'done' && fault === undefined) return outcome
    if (outcome.kind === 'crashed' || outcome.kind === 'hung') lost.set(name, outcome)
    log.error({ sessionId: id, step: name, fault }, 'a step of a live text failed')
    return outcome
  }

  /** Has word lists read and vocabularies prepared before somebody waits for them. */
  async function prepare(): Promise<void> {
    const options = { rank: RANK.preparation, signal: closing.signal }
    const spoken = { channel: 0, language, words: [sample] }
    for (const name of wanted) await run({ kind: 'change', name, spoken }, options)
    const words = [{ ...sample, word: sample.text }]
    const said = JSON.stringify([{ channel: 0, language, words }])
    for (const name of findings) {
      if (params[name] === true) await run({ kind: 'find', name, said }, options)
    }
  }

  return {
    // It was closed; whatever else happens is told by `run`.
    prepared: prepare().catch(() => {}),
    async change({ words: heard, ...spoken }, { signal, isPartial = false }) {
      const rank = isPartial ? RANK.partial : RANK.final
      let words = heard
      for (const name of wanted) {
        const task = { kind: 'change', name, spoken: { ...spoken, words } } as const
        const outcome = await run(task, { rank, signal })
        if (outcome.kind === 'done') words = outcome.value as Word[]
      }
      return words
    },
    async find(name, said, { signal }) {
      const outcome = await run({ kind: 'find', name, said }, { rank: RANK.final, signal })
      switch (outcome.kind) {
        case 'done':
          return outcome.value as Envelope
        case 'hung':
          return failed(name, timedOut(name, utterances.patience))
        default:
          return failed(name, brokenDown(name))
      }
    },
    close() {
      closing.abort()
      utterances.forget(id)
      summaries.forget(id)
    },
  }
}

const sample: Word = { text: 'Hello', start: 0, end: 1, confidence: 1 }
