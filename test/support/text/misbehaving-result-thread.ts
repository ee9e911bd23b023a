/**
 * A thread whose steps are the `steps` of a job's parameters: `hang` hangs, `crash` ends it,
 * `throw` throws, `fault` reports an error and goes on. A failed step whose name begins with
 * `required` leaves no result; `tell thread` returns the thread's number.
 */

import { parentPort, threadId } from 'node:worker_threads'
import {
  type BuilderTask,
  type FromResultThread,
  type ResultTask,
  storeStepName,
} from '../../../src/text/result/threads/result-task.ts'
import { blockThread } from '../workers/block-thread.ts'

parentPort!.on('message', ({ id, task, failedSteps, step }: ResultTask) => {
  const post = (message: FromResultThread) => parentPort!.postMessage(message)
  const fault = { name: 'RangeError', frames: ['    at here.ts:1:1'] }
  for (const name of stepsOf(task)) {
    if (failedSteps[name] && name.startsWith('required')) {
      return post({ id, kind: 'refused', message: failedSteps[name].message })
    }
    if (failedSteps[name]) continue
    storeStepName(step, name)
    post({ id, kind: 'step', name })
    if (name.endsWith('hang')) blockThread()
    if (name.endsWith('crash')) process.exit(1)
    if (name.endsWith('throw')) return post({ id, kind: 'failed', fault })
    if (name.endsWith('fault')) post({ id, kind: 'fault', name, fault })
  }
  const text = stepsOf(task).includes('tell thread')
    ? String(threadId)
    : JSON.stringify(failedSteps)
  post({ id, kind: 'done', response: { text, redacted: [], prepared: [] } })
})

function stepsOf(task: BuilderTask): string[] {
  if (task.kind === 'build') return task.result.params.steps as string[]
  return task.kind === 'retry' ? [task.retry.name] : []
}
