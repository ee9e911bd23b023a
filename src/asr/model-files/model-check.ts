import { fork, type StdioOptions } from 'node:child_process'
import { processStarter } from '../../workers/start-worker.ts'
import { SupervisedWorker } from '../../workers/supervised-worker.ts'

/** Paths of the speaker models to check together. */
export type SpeakerModelFiles = { embedding?: string; segmentation?: string }

/** The response of the check process. */
export type ModelCheckResult = { problem?: string }

/** Seconds. Loading and running the models takes a few; a process that takes longer hangs. */
const TIMEOUT = 120

/**
 * Loads speaker models as the workers do and runs them once, in a separate process, which an
 * invalid file may crash. Rejects with an `Error` that says what is wrong with them.
 */
export async function checkModels(files: SpeakerModelFiles, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const start = processStarter(() => {
    const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc']
    return fork(new URL('model-check-process.ts', import.meta.url), [], { stdio })
  })
  const worker = new SupervisedWorker<ModelCheckResult>({ start })
  try {
    const receive = (result: ModelCheckResult) => result
    const outcome = await worker.run(files, { signal, timeout: TIMEOUT, receive })
    signal.throwIfAborted()
    const problem = 'lost' in outcome ? explainEnd(outcome.lost.stderr) : outcome.response.problem
    if (problem !== undefined) throw new Error(problem)
  } finally {
    await worker.close()
  }
}

/**
 * Returns the last lines that a native library wrote before it ended its process, without source
 * locations.
 */
function explainEnd(errors: string): string {
  const lines = errors.split('\n').map((line) => line.replace(/^\/\S+:\w+:\d+ /, '').trim())
  const output = lines.filter((line) => line !== '').slice(-2)
  return `the process that tried it ended: ${output.join('; ') || 'it printed nothing'}`
}
