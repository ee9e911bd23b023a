import { fork } from 'node:child_process'

/** Paths of models for speakers that are to work together. */
export type SpeakerModelFiles = { embedding?: string; segmentation?: string }

/** What the process that tries them answers; none when it ended in the middle. */
export type ModelCheckResult = { problem?: string }

/** Loading and running them takes seconds; a process that takes longer hangs. */
const TRIAL_TIMEOUT_MS = 120_000
/** What is kept of the errors of a process, of which the last lines are told. */
const MAX_ERRORS = 10_000

/**
 * Loads speaker models as the workers do and runs them once, in a process of its own, which a file that
 * is none may end. Rejects with `Error` that says what is wrong with them.
 */
export async function checkModels(files: SpeakerModelFiles, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = fork(new URL('model-check-process.ts', import.meta.url), [JSON.stringify(files)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let errors = ''
  child.stderr?.on('data', (text: Buffer) => {
    errors = (errors + text).slice(-MAX_ERRORS)
  })
  const { promise, resolve, reject } = Promise.withResolvers<ModelCheckResult>()
  let result: ModelCheckResult | undefined
  child.on('message', (message: ModelCheckResult) => {
    result = message
  })
  child.once('error', reject)
  child.once('close', () => resolve(result ?? { problem: lastWords(errors) }))
  const stop = () => child.kill('SIGKILL')
  const timer = setTimeout(stop, TRIAL_TIMEOUT_MS)
  signal.addEventListener('abort', stop, { once: true })
  try {
    const { problem } = await promise
    signal.throwIfAborted()
    if (problem !== undefined) throw new Error(problem)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** What a native library said before it ended its process, without the places in its source. */
function lastWords(errors: string): string {
  const lines = errors.split('\n').map((line) => line.replace(/^\/\S+:\w+:\d+ /, '').trim())
  const said = lines.filter((line) => line !== '').slice(-2)
  return `the process that tried it ended: ${said.join('; ') || 'it said nothing'}`
}
