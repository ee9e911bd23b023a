import { fork } from 'node:child_process'

/** Paths of speaker models that are to work together. */
export type SpeakerModelFiles = { embedding?: string; segmentation?: string }

/** The message of the check process; none when it ended early. */
export type ModelCheckResult = { problem?: string }

/** Loading and running the models takes seconds; a process that takes longer hangs. */
const TRIAL_TIMEOUT_MS = 120_000
/** How much of a process's error output is kept; its last lines are reported. */
const MAX_ERRORS = 10_000

/**
 * Loads speaker models as the workers do and runs them once, in a separate process, which an
 * invalid file may end. Rejects with an `Error` that says what is wrong with them.
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

/**
 * Returns the last lines that a native library wrote before it ended its process, without source
 * locations.
 */
function lastWords(errors: string): string {
  const lines = errors.split('\n').map((line) => line.replace(/^\/\S+:\w+:\d+ /, '').trim())
  const output = lines.filter((line) => line !== '').slice(-2)
  return `the process that tried it ended: ${output.join('; ') || 'it printed nothing'}`
}
