/**
 * The thread that builds results: a transcript in, the JSON text of its result out, with the audio
 * spans to silence. It reports the name of each step before the step begins. It also retries
 * add-ons, and describes which there are. Started by `result-thread.ts`.
 */
import { parentPort } from 'node:worker_threads'
import { textCapabilities } from '../capabilities.ts'
import { buildResultText, RequiredStepFailed } from './build-result.ts'
import {
  type Answers,
  type FromThread,
  noteStep,
  type ResultTask,
  type Task,
} from './result-task.ts'
import { retryAddOn } from './retry.ts'
import { toSafeError } from './safe-error.ts'

type Watch = {
  given: ResultTask['given']
  onStep: (name: string) => void
  onFault: (name: string, error: unknown) => void
}

parentPort!.on('message', ({ id, task, given, step }: ResultTask) => {
  const tell = (message: FromThread) => parentPort!.postMessage(message)
  try {
    const onStep = (name: string) => {
      noteStep(step, name)
      tell({ id, kind: 'step', name })
    }
    const onFault = (name: string, error: unknown) => {
      tell({ id, kind: 'fault', name, fault: toSafeError(error) })
    }
    tell({ id, kind: 'done', answer: perform(task, { given, onStep, onFault }) })
  } catch (error) {
    if (error instanceof RequiredStepFailed) tell({ id, kind: 'refused', message: error.message })
    else tell({ id, kind: 'failed', fault: toSafeError(error) })
  }
})

function perform(task: Task, watch: Watch): Answers[Task['kind']] {
  if (task.kind === 'describe') return textCapabilities()
  if (task.kind === 'retry') {
    return retryAddOn(task.retry, { ...watch, now: () => performance.now() })
  }
  const { result, redacted } = buildResultText(task.transcript, task.result, watch)
  return { text: JSON.stringify(result), redacted }
}
