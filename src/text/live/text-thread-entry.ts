/**
 * The thread that runs the text steps of live sessions: one task in, its response out, one after
 * the other. Started by `text-thread.ts`.
 */
import { parentPort } from 'node:worker_threads'
import type { Params } from '../add-ons/add-on.ts'
import { type PreparedTransform, prepareTransform, runLiveAddOn } from './run-live-steps.ts'
import type { TransformStep } from './step-names.ts'
import type { FromTextThread, ToThread } from './text-thread.ts'

type SessionSteps = { params: Params; transforms: Map<TransformStep, PreparedTransform> }

const sessions = new Map<string, SessionSteps>()

parentPort!.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'open':
      sessions.set(message.session, { params: JSON.parse(message.params), transforms: new Map() })
      break
    case 'close':
      sessions.delete(message.session)
      break
    case 'task': {
      // Measures this thread alone, so that other load on the machine is not charged to a session.
      const before = process.threadCpuUsage()
      const response = runTask(message)
      const { user, system } = process.threadCpuUsage(before)
      parentPort!.postMessage({ ...response, ms: (user + system) / 1000 } satisfies FromTextThread)
    }
  }
})

/** Reports only the name of an error: its message may quote the transcript. */
function runTask({ session: name, task }: Extract<ToThread, { kind: 'task' }>): FromTextThread {
  try {
    const session = sessions.get(name)!
    if (task.kind === 'transform') {
      const { apply, warnings } = transformOf(session, task.name)
      return { kind: 'done', value: apply(task.utterance), warnings: warnings() }
    }
    let fault: string | undefined
    const onFault = (_name: string, error: unknown) => {
      fault = errorKindOf(error)
    }
    const { params } = session
    const value = runLiveAddOn(task.name, task.utterancesJson, {
      params,
      now: () => performance.now(),
      onFault,
    })
    return { kind: 'done', value, ...(fault !== undefined && { fault }) }
  } catch (error) {
    return { kind: 'failed', fault: errorKindOf(error) }
  }
}

function errorKindOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}

function transformOf({ params, transforms }: SessionSteps, name: TransformStep): PreparedTransform {
  const transform = transforms.get(name) ?? prepareTransform(name, params)
  transforms.set(name, transform)
  return transform
}
