import type { Log } from '../../observability/log.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { Params } from '../add-ons/add-on.ts'
import {
  budgetError,
  crashError,
  type Envelope,
  failedEnvelope,
  timeoutError,
} from '../result/steps/envelope.ts'
import {
  capitalizeBeginning,
  hasCapitals,
  joinSentences,
} from '../words/sentences/join-sentences.ts'
import { StepBudget } from './step-budget.ts'
import { type AddOnStep, addOnSteps, transformSteps, type UtteranceWords } from './step-names.ts'
import type { TaskOutcome, TextTask, TextThread } from './text-thread.ts'

/** The threads that work for a session. */
export type SessionThreads = {
  summaries: TextThread
  /**
   * Returns the thread of its utterances, which changes once the session is moved to its own
   * thread.
   */
  finals(): TextThread
  /** Called when other sessions have repeatedly waited for this one. */
  setApart(): void
  /** Called when the session crashed the thread of its utterances, or the thread hung. */
  onBroken(): void
}

/** What a session depends on. `now` is in milliseconds. */
export type SessionTextOptions = { threads: SessionThreads; log: Log; now: () => number }

/** The priority of each kind of work; lower ranks come first. */
const RANK = { final: 0, partial: 1, preparation: 2 }

/**
 * The text steps of an open session. `prepared` resolves when everything is loaded, or when the
 * session is closed.
 */
export type OpenSessionText = Omit<SessionText, 'close'> & {
  prepared: Promise<void>
  close(): void
}

type RunOptions = { rank: number; signal: AbortSignal }
type StepName = TextTask['name']
/** `spent`: the step used more processor time than a session may. */
type StepOutcome = TaskOutcome | { kind: 'spent' }

/**
 * Opens the text steps of one session. A step that hung, crashed its thread or used too much time
 * is not run again: repeated for every utterance, it would delay all sessions.
 */
export function openSessionText(
  { id, account, params, language }: TextSession,
  { threads, log, now }: SessionTextOptions,
): OpenSessionText {
  const requestedSteps = transformSteps.filter((name) => params[name] === true)
  const closing = new AbortController()
  const { run, warnings } = createStepRunner({ id, account, params }, { threads, log, now })

  /** Loads word lists and prepares vocabularies before an utterance needs them. */
  async function prepare(): Promise<void> {
    const options = { rank: RANK.preparation, signal: closing.signal }
    const utterance = { channel: 0, language, words: [sample] }
    for (const name of requestedSteps) await run({ kind: 'transform', name, utterance }, options)
    const words = [{ ...sample, word: sample.text }]
    const utterancesJson = JSON.stringify([{ channel: 0, language, words }])
    for (const name of addOnSteps) {
      if (params[name] === true) await run({ kind: 'add-on', name, utterancesJson }, options)
    }
  }

  /** Whether an utterance of the session had capitals. */
  let isCased = false
  return {
    // It rejects when the session is closed. `run` reports every other failure.
    prepared: prepare().catch(() => {}),
    async applyTransforms({ words: recognized, ...utterance }, options) {
      const { signal, isPartial = false, wordBefore } = options
      const rank = isPartial ? RANK.partial : RANK.final
      isCased ||= hasCapitals(recognized)
      const source = { ...utterance, words: [...recognized] }
      const { utterances } = joinSentences({ utterances: [source] }, { isCased })
      if (wordBefore !== undefined) capitalizeBeginning(utterances[0]!, wordBefore)
      let words: readonly Word[] = utterances[0]!.words
      for (const name of requestedSteps) {
        const task = { kind: 'transform', name, utterance: { ...utterance, words } } as const
        const outcome = await run(task, { rank, signal })
        if (outcome.kind === 'done') words = outcome.value as Word[]
      }
      return words
    },
    async runAddOn(name, utterancesJson, { signal }) {
      const outcome = await run(
        { kind: 'add-on', name, utterancesJson },
        { rank: RANK.final, signal },
      )
      switch (outcome.kind) {
        case 'done':
          return outcome.value as Envelope
        case 'hung':
          return failedEnvelope(name, timeoutError(name, threads.summaries.timeout))
        case 'spent':
          return failedEnvelope(name, budgetError(name))
        default:
          return failedEnvelope(name, crashError(name))
      }
    },
    warnings: () => [...warnings.values()].flat(),
    close() {
      closing.abort()
      threads.finals().drop(id)
      threads.summaries.drop(id)
    },
  }
}

/**
 * Creates the function that runs the steps of a session. A step that fails or exceeds its budget is
 * reported once and not run again.
 */
function createStepRunner(
  { id, account, params }: Omit<TextSession, 'language'>,
  { threads, log, now }: SessionTextOptions,
) {
  const lost = new Map<StepName, StepOutcome>()
  const budgets = new Map<StepName, StepBudget>()
  const warnings = new Map<StepName, readonly string[]>()

  async function run(task: TextTask, options: RunOptions): Promise<StepOutcome> {
    const { name } = task
    const before = lost.get(name)
    if (before) return before
    const isSummary = name === 'summarization'
    const thread = isSummary ? threads.summaries : threads.finals()
    const outcome = await thread.run(task, { ...options, session: id, account, params })
    const isLost = outcome.kind === 'crashed' || outcome.kind === 'hung'
    if (isLost && !isSummary) threads.onBroken()
    const after = lost.get(name)
    if (isLost && !after) lost.set(name, outcome)
    const fault = isLost ? outcome.kind : outcome.fault
    // A step that has failed or exceeded its budget in the meantime has been reported.
    if (fault !== undefined && !after) {
      log.error({ sessionId: id, step: name, fault }, 'a realtime text step failed')
    }
    if (outcome.kind === 'done') warn(name, outcome.warnings ?? [])
    if (!isLost && !isSummary) spend(name, outcome.ms ?? 0)
    return outcome
  }

  /**
   * Charges a task to the budget of its step. The first task is free, because it loads word lists.
   */
  function spend(name: StepName, ms: number): void {
    const budget = budgets.get(name)
    if (!budget) {
      budgets.set(name, new StepBudget(now))
      return
    }
    budget.spend(ms)
    if (budget.isSlow) threads.setApart()
    if (!budget.isSpent || lost.has(name)) return
    lost.set(name, { kind: 'spent' })
    warn(name, [...(warnings.get(name) ?? []), budgetError(name).message])
  }

  /** Stores the warnings for the user, and logs each once. */
  function warn(name: StepName, all: readonly string[]): void {
    if (all.length === 0) return
    const isNew = all.length > (warnings.get(name)?.length ?? 0)
    warnings.set(name, all)
    if (!isNew) return
    log.warn(
      { sessionId: id, step: name, warning: all.at(-1) },
      'a realtime text step has a warning',
    )
  }

  return { run, warnings }
}

const sample: Word = { text: 'Hello', start: 0, end: 1, confidence: 1 }

/** The text steps of one session. */
export type SessionText = {
  /**
   * Returns the words as the user spells them, or unchanged where a step fails. Rejects when
   * aborted.
   */
  applyTransforms(
    utterance: UtteranceWords,
    options: LiveTransformOptions,
  ): Promise<readonly Word[]>
  /** Runs an add-on on utterances, given as the JSON text of an array. Rejects when aborted. */
  runAddOn(
    name: AddOnStep,
    utterancesJson: string,
    options: { signal: AbortSignal },
  ): Promise<Envelope>
  /** Returns the warnings for the user: what was left out so far, and why. */
  warnings(): string[]
  close(): Promise<void>
}

/** A session: its account, its switches with their configurations, and its most likely language. */
export type TextSession = { id: string; account: string; params: Params; language: string }

/**
 * Options of `applyTransforms`. The words of a partial wait until those of finals are done. Where
 * `wordBefore`, the last one of the channel, ends a sentence, the first word gets a capital.
 */
export type LiveTransformOptions = {
  signal: AbortSignal
  isPartial?: boolean
  wordBefore?: string | undefined
}
