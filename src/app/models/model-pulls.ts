import { fork } from 'node:child_process'
import { bareEnvironment } from '../../audio/decoder/sandbox/bare-environment.ts'
import type { Config } from '../../config/config.ts'
import { PullQueue, type RunPull } from '../../models/pull-queue.ts'
import type { Log } from '../../observability/log.ts'
import { processStarter } from '../../workers/start-worker.ts'
import { SupervisedWorker } from '../../workers/supervised-worker.ts'
import type { FromPull, ToPull } from './pull-process.ts'

/** Variables of the proxies and certificates that downloads honor. */
const NETWORK_VARIABLES = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
]

/** Creates the queue that pulls models, one after the other. */
export function createPullQueue({ models }: Pick<Config, 'models'>, log: Log): PullQueue {
  const moduleLog = log.child({ module: 'models' })
  return new PullQueue({
    run: pullIn(models, moduleLog),
    memoryBytes: models.memory,
    log: moduleLog,
  })
}

/** Returns a function that pulls a model in a separate process. */
export function pullIn(
  { folder, sources }: Pick<Config['models'], 'folder' | 'sources'>,
  log: Log,
): RunPull {
  return async (model, { signal, onStep }) => {
    const start = processStarter(() => {
      return fork(new URL('pull-process.ts', import.meta.url), [], {
        env: { ...bareEnvironment(), ...networkEnvironment() },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
    })
    const onError = (error: Error) => log.error({ err: error }, 'pull process failed')
    const worker = new SupervisedWorker<FromPull>({ start, onError })
    try {
      const message: ToPull = { folder, model, sources }
      const outcome = await worker.run(message, {
        signal,
        receive: (message) => {
          if ('step' in message) onStep(message.step)
          else if ('retry' in message)
            log.warn({ model: model.id, problem: message.retry }, 'pull failed, retrying')
          else return message
          return undefined
        },
      })
      signal.throwIfAborted()
      if ('lost' in outcome) throw new Error(`its process ended with ${outcome.lost.cause}`)
      if (!('problem' in outcome.response)) return
      const { problem, isPublic } = outcome.response
      // A problem on this machine may contain the names of its folders, so only the log has it.
      log.error({ model: model.id, problem }, 'pull failed')
      throw new Error(isPublic ? problem : 'see the log of the server')
    } finally {
      await worker.close()
    }
  }
}

function networkEnvironment(): Record<string, string> {
  return Object.fromEntries(
    NETWORK_VARIABLES.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
