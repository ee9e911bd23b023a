import { parentPort } from 'node:worker_threads'
import { textCapabilities } from '../../add-ons/capabilities.ts'
import { editTranscript } from '../../edits/edit-task.ts'
import { searchableUtterances } from '../../search/searchable-utterances.ts'
import type { ServiceAddOn } from '../../service-add-ons/service-add-on.ts'
import { buildResult } from '../build-result.ts'
import { mergeResponses } from '../merge-responses.ts'
import { recomputeAddOn } from '../steps/retry-add-on.ts'
import { RequiredStepError } from '../steps/run-transform.ts'
import { writeTranscriptFile } from '../transcript-file.ts'
import {
  type BuilderTask,
  type FromResultThread,
  type Responses,
  type ResultTask,
  storeStepName,
} from './result-task.ts'
import { toSafeError } from './safe-error.ts'

type TaskWatch = {
  failedSteps: ResultTask['failedSteps']
  onStep: (name: string) => void
  onFault: (name: string, error: unknown) => void
  serviceAddOns?: readonly ServiceAddOn[]
}

/**
 * Performs the tasks that arrive in this thread, and reports the name of each step before the step
 * begins. Tests pass their own `serviceAddOns`.
 */
export function serveResultTasks(addOns: { serviceAddOns?: readonly ServiceAddOn[] } = {}): void {
  parentPort!.on('message', async ({ id, task, failedSteps, step }: ResultTask) => {
    const post = (message: FromResultThread) => parentPort!.postMessage(message)
    try {
      const onStep = (name: string) => {
        storeStepName(step, name)
        post({ id, kind: 'step', name })
      }
      const onFault = (name: string, error: unknown) => {
        post({ id, kind: 'fault', name, fault: toSafeError(error) })
      }
      const response = await perform(task, { failedSteps, onStep, onFault, ...addOns })
      post({ id, kind: 'done', response })
    } catch (error) {
      if (error instanceof RequiredStepError) post({ id, kind: 'refused', message: error.message })
      else post({ id, kind: 'failed', fault: toSafeError(error) })
    }
  })
}

function perform(
  task: BuilderTask,
  watch: TaskWatch,
): Responses[BuilderTask['kind']] | Promise<Responses[BuilderTask['kind']]> {
  const now = () => performance.now()
  if (task.kind === 'describe') return textCapabilities()
  if (task.kind === 'transcript') return writeTranscriptFile(task.file)
  if (task.kind === 'searchable') return searchableUtterances(task.searched)
  if (task.kind === 'edit') return editTranscript(task.edit)
  if (task.kind === 'retry') return recomputeAddOn(task.retry, { ...watch, now })
  if (task.kind === 'merge') return mergeResponses(task.merge, { ...watch, now })
  const { result, ...built } = buildResult(task.transcript, task.result, watch)
  return { text: JSON.stringify(result), ...built }
}
