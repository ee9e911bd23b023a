import type { Log } from '../../log.ts'
import type { Word } from '../../transcript/transcript.ts'
import { brokenDown, type Envelope, failed, overspent, timedOut } from '../result/envelope.ts'
import type { SessionText, TextSession } from './live-text.ts'
import { StepBudget } from './step-budget.ts'
import { addOnSteps, transformSteps } from './step-names.ts'
import type { Task, TaskOutcome, TextThread } from './text-thread.ts'

/** The threads that work for a session. */
export type SessionThreads = {
  summaries: TextThread
  /** The one of its utterances; another one than before once the session has to be apart from others. */
  utterances(): TextThread
  /** Others waited for this session again and again. */
  setApart(): void
  /** It broke the thread of its utterances down, or it hung. */
  onBroken(): void
}

/** What a session works with; `now` is in milliseconds. */
export type SessionTextOptions = { threads: SessionThreads; log: Log; now: () => number }

/** What is late for somebody goes first. */
const RANK = { final: 0, partial: 1, preparation: 2 }

/** The texts of a session; `prepared` resolves when nothing has to be read any more, or they were closed. */
export type OpenSessionText = Omit<SessionText, 'close'> & {
  prepared: Promise<void>
  close(): void
}

type RunOptions = { rank: number; signal: AbortSignal }
type Name = Task['name']
/** `spent`: it used more time than a session may. */
type Outcome = TaskOutcome | { kind: 'spent' }

/**
 * Works on the texts of one session. A step that hung, broke its thread down or used more time than it may is left
 * out from then on: tried again with every utterance, it would hold up all sessions.
 */
export function openSessionText(
  { id, account, params, language }: TextSession,
  { threads, log, now }: SessionTextOptions,
): OpenSessionText {
  const wanted = transformSteps.filter((name) => params[name] === true)
  const lost = new Map<Name, Outcome>()
  const budgets = new Map<Name, StepBudget>()
  const warnings = new Map<Name, readonly string[]>()
  const closing = new AbortController()

  async function run(task: Task, options: RunOptions): Promise<Outcome> {
    const { name } = task
    const before = lost.get(name)
    if (before) return before
    const isSummary = name === 'summarization'
    const thread = isSummary ? threads.summaries : threads.utterances()
    const outcome = await thread.run(task, { ...options, session: id, account, params })
    const isLost = outcome.kind === 'crashed' || outcome.kind === 'hung'
    if (isLost && !isSummary) threads.onBroken()
    const after = lost.get(name)
    if (isLost && !after) lost.set(name, outcome)
    const fault = isLost ? outcome.kind : outcome.fault
    // Of one that was lost meanwhile, or was spent, all has been said.
    if (fault !== undefined && !after) {
      log.error({ sessionId: id, step: name, fault }, 'a step of a live text failed')
    }
    if (outcome.kind === 'done') warn(name, outcome.warnings ?? [])
    if (!isLost && !isSummary) spend(name, outcome.ms ?? 0)
    return outcome
  }

  /** The first task of a step reads word lists, and costs nobody its budget. */
  function spend(name: Name, ms: number): void {
    const budget = budgets.get(name)
    if (!budget) {
      budgets.set(name, new StepBudget(now))
      return
    }
    budget.spend(ms)
    if (budget.isSlow) threads.setApart()
    if (!budget.isSpent || lost.has(name)) return
    lost.set(name, { kind: 'spent' })
    warn(name, [...(warnings.get(name) ?? []), overspent(name).message])
  }

  /** Keeps what the customer should know, and logs it once. */
  function warn(name: Name, all: readonly string[]): void {
    if (all.length === 0) return
    const isNew = all.length > (warnings.get(name)?.length ?? 0)
    warnings.set(name, all)
    if (!isNew) return
    log.warn({ sessionId: id, step: name, warning: all.at(-1) }, 'a step of a live text is bounded')
  }

  /** Has word lists read and vocabularies prepared before somebody waits for them. */
  async function prepare(): Promise<void> {
    const options = { rank: RANK.preparation, signal: closing.signal }
    const spoken = { channel: 0, language, words: [sample] }
    for (const name of wanted) await run({ kind: 'change', name, spoken }, options)
    const words = [{ ...sample, word: sample.text }]
    const said = JSON.stringify([{ channel: 0, language, words }])
    for (const name of addOnSteps) {
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
          return failed(name, timedOut(name, threads.summaries.timeout))
        case 'spent':
          return failed(name, overspent(name))
        default:
          return failed(name, brokenDown(name))
      }
    },
    warnings: () => [...warnings.values()].flat(),
    close() {
      closing.abort()
      threads.utterances().forget(id)
      threads.summaries.forget(id)
    },
  }
}

const sample: Word = { text: 'Hello', start: 0, end: 1, confidence: 1 }
