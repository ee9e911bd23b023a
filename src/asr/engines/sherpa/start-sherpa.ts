import { fork } from 'node:child_process'
import { bareEnvironment } from '../../../audio/decoder/sandbox/bare-environment.ts'
import { AppError } from '../../../errors.ts'
import { processStarter } from '../../../workers/start-worker.ts'
import { SupervisedWorker } from '../../../workers/supervised-worker.ts'
import type { FromSherpa, SherpaSetup, SherpaTask, SherpaText } from './sherpa-protocol.ts'

/** Seconds within which a model must load. */
const LOAD_TIMEOUT = 120
/** Characters of the library's error output that are kept. */
const MAX_ERRORS = 2000

/** A process that runs one model with sherpa-onnx. */
export type SherpaProcess = {
  /**
   * Recognizes one segment; calls run one at a time. Rejects with `engine_failed` when the
   * process ends meanwhile; the next call uses a new process.
   */
  run(task: SherpaTask, signal: AbortSignal): Promise<SherpaText>
  close(): Promise<void>
}

/** Loads a model in a process of its own. Rejects with `Error` that says why it cannot. */
export async function startSherpa(setup: SherpaSetup): Promise<SherpaProcess> {
  const { worker, whenReady, errors } = createWorker(setup)
  let id = 0
  let last: Promise<unknown> = Promise.resolve()

  async function perform(task: SherpaTask, signal: AbortSignal): Promise<SherpaText> {
    signal.throwIfAborted()
    await whenReady()
    const taskId = ++id
    const outcome = await worker.run(
      { id: taskId, task },
      {
        receive: (message: FromSherpa) =>
          'id' in message && message.id === taskId ? message : undefined,
      },
    )
    if ('lost' in outcome) {
      const { cause } = outcome.lost
      throw new AppError(
        'engine_failed',
        `sherpa-onnx ended with ${cause}${lastErrorLine(errors())}`,
      )
    }
    if (outcome.response.type === 'error') {
      throw new AppError('engine_failed', outcome.response.problem)
    }
    return outcome.response.result
  }

  worker.start()
  try {
    await whenReady()
  } catch (error) {
    await worker.close()
    throw error
  }
  // The npm packages support the CPU only and silently fall back to it.
  if (/fallback to cpu/i.test(errors())) {
    process.stderr.write(
      `sherpa-onnx cannot use ${setup.provider}: ${setup.folder} runs on the CPU\n`,
    )
  }
  return {
    run(task, signal) {
      const result = last.then(() => perform(task, signal))
      last = result.catch(() => {})
      return result
    },
    close: () => worker.close(),
  }
}

/**
 * Returns the supervised process of a model, a promise of its readiness, and its last error output.
 */
function createWorker(setup: SherpaSetup) {
  let errors = ''
  let problem: string | undefined
  let ready = Promise.withResolvers<void>()
  const start = () => {
    errors = ''
    const child = fork(new URL('sherpa-process.ts', import.meta.url), [JSON.stringify(setup)], {
      env: bareEnvironment(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    child.stderr?.on('data', (text: Buffer) => {
      errors = (errors + text).slice(-MAX_ERRORS)
    })
    return child
  }
  const worker = new SupervisedWorker<FromSherpa>({
    start: processStarter(start),
    loading: {
      timeout: LOAD_TIMEOUT,
      isReady(message) {
        if (message.type === 'broken') problem = message.problem
        return message.type === 'ready'
      },
      onReady: () => ready.resolve(),
    },
    onLost({ cause, state }) {
      const reason = problem ?? `sherpa-onnx ended with ${cause}${lastErrorLine(errors)}`
      if (state === 'loading') ready.reject(new Error(reason))
      ready = Promise.withResolvers()
      // Callers handle a rejection while the model loads; later, nobody may be waiting.
      ready.promise.catch(() => {})
    },
  })
  return { worker, whenReady: () => ready.promise, errors: () => errors }
}

/** Returns the last line that the library wrote, without its source location. */
function lastErrorLine(errors: string): string {
  const lines = errors.split('\n').map((line) => line.replace(/^\/\S+:\w+:\d+ /, '').trim())
  const line = lines.filter((text) => text !== '').at(-1)
  return line === undefined ? '' : `: ${line}`
}
