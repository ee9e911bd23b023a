import { AppError } from '../../../errors.ts'
import type { Log } from '../../../observability/log.ts'
import type { FinalResult, PartialResult } from '../../live-engine/live-engine.ts'
import type { PoolTaskOptions, TaskRunner } from '../../workers/pool.ts'
import type { WorkerTask } from '../../workers/worker-protocol.ts'
import { REMOTE } from './remote-id.ts'
import type { RemoteRecognizer } from './remote-recognizer.ts'

/** What live work needs beside the remote engine. */
export type RemoteRunnerOptions = {
  remote: RemoteRecognizer
  /** The processes of live sessions, which embed speakers. */
  processes: TaskRunner
  /** Returns another recognizer of a language, and the processes that have it. */
  findFallback(language: string): { model: string; processes: TaskRunner } | undefined
  log: Log
}

type FinalTask = Extract<WorkerTask, { kind: 'final' }>

/** After a failure, finals go to another recognizer for so long without trying. */
const DOWN_MS = 15_000

/**
 * Runs the tasks of live utterances on the remote engine. There are no partials: many short
 * requests would cost more than they show. A final that it does not recognize goes to an installed
 * model of the language, with a warning; where there is none, it is tried again for as long as the
 * session lives.
 */
export function createRemoteRunner({
  remote,
  processes,
  findFallback,
  log,
}: RemoteRunnerOptions): TaskRunner {
  let downUntil = 0

  async function recognizeFinal(task: FinalTask, options: PoolTaskOptions): Promise<FinalResult> {
    const fallback = task.language === undefined ? undefined : findFallback(task.language)
    try {
      if (fallback && performance.now() < downUntil)
        throw new AppError('engine_failed', 'it is down')
      const call = { signal: options.signal, use: 'live' as const }
      const final = await remote.recognizeFinal(task.utterance, task, call)
      if (!task.wantsEmbedding || final.words.length === 0) return final
      const embed = {
        kind: 'embed-utterance' as const,
        utterance: task.utterance,
        words: final.words,
      }
      return { ...final, ...(await processes.run(embed, options)) }
    } catch (error) {
      if (options.signal.aborted || !isRemote(error)) throw error
      if (!fallback) throw new AppError('engine_unavailable', error.message, { cause: error })
      if (performance.now() >= downUntil) log.warn({ err: error }, 'remote engine failed')
      downUntil = Math.max(downUntil, performance.now() + DOWN_MS)
      const { model } = fallback
      const final = await fallback.processes.run({ ...task, model, vocabulary: [] }, options)
      const warning = `The ${REMOTE} engine did not answer: ${model} recognized some utterances`
      return { ...final, warnings: [...final.warnings, warning] }
    }
  }

  async function run(task: WorkerTask, options: PoolTaskOptions) {
    switch (task.kind) {
      case 'final':
        return recognizeFinal(task, options)
      case 'partial': {
        const language = task.language ?? task.languages[0] ?? ''
        return { words: [], model: REMOTE, language, draft: [] } satisfies PartialResult
      }
      case 'identify':
        return remote.identify(task, { signal: options.signal, use: 'live' })
      default:
        throw new TypeError(`not a task for the remote engine: ${task.kind}`)
    }
  }
  return { run: run as TaskRunner['run'] }
}

function isRemote(error: unknown): error is AppError {
  if (!(error instanceof AppError)) return false
  return error.code === 'engine_failed' || error.code === 'remote_engine_refused'
}
