import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createPullQueue } from '../../app/models/model-pulls.ts'
import { remoteOptions } from '../../app/remote-asr.ts'
import { createSpeechEngine } from '../../asr/create-speech-engine.ts'
import { engineOptions } from '../../asr/model-selection/engine-options.ts'
import { type Config, readConfig } from '../../config/config.ts'
import { createLog } from '../../observability/log.ts'
import type { Server } from '../client/transport.ts'
import { requireModels } from '../models/require-models.ts'
import { readSettings } from '../terminal/arguments.ts'
import { explainTemporaryFiles, makeTemporaryFolder } from '../terminal/temporary-folder.ts'

/** A server for one command, on a free port of this machine; its data is deleted at the end. */
export type PrivateServer = Server & { close(): Promise<void> }

type StartOptions = {
  /** Whether the server runs live sessions, too. */
  live?: boolean
  /** Prints a line about each step if models are installed first. */
  printLine: (line: string) => void
  signal: AbortSignal
}

/** Starts a private server. Its errors reach the user through the jobs, not as a log. */
export async function startPrivateServer(
  env: Record<string, string | undefined>,
  { live = false, printLine, signal }: StartOptions,
): Promise<PrivateServer> {
  const config = readSettings(readConfig, env)
  await requireModels(config, { printLine, signal })
  const folder = await makeTemporaryFolder()
  // An interruption ends the process without `close`. Removal is retried, since a decoder may still
  // be writing.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', removeFolder)
  const key = randomBytes(32).toString('base64url')
  const settings = privateConfig(config, { folder, key, live })
  const log = createLog('fatal')
  // The speech engine comes first: a worker loads its models while the other modules of the server
  // load.
  const speech = createSpeechEngine({
    ...engineOptions(settings),
    remote: remoteOptions(settings, log),
    pulls: settings.models.autoPull ? createPullQueue(settings, log) : undefined,
    log,
    prepacks: true,
  })
  try {
    const { createApp } = await import('../../app/app.ts')
    const overrides = { log, speech, indexesTranscripts: false, spaceWait: SPACE_WAIT }
    const app = await createApp(settings, overrides)
    const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
    return {
      url,
      key,
      header: config.http.authHeaderNames[0]!,
      async close() {
        await app.close()
        removeFolder()
      },
    }
  } catch (error) {
    await speech.close()
    removeFolder()
    throw explainTemporaryFiles(error)
  }
}

/**
 * More sessions than a command opens, so that none is refused; a number needs no measurement, which
 * would compete with the first session.
 */
const PRIVATE_SLOTS = 1000

/** A job waits for space only for other jobs of the command, which free some when they end. */
const SPACE_WAIT = { pauseMs: 5000, maxMs: 60_000 }

/** Free bytes below which nothing more is uploaded; the database needs some to record failures. */
const MIN_FREE_BYTES = 2_000_000

type PrivateServerOptions = { folder: string; key: string; live: boolean }

function privateConfig(config: Config, { folder, key, live }: PrivateServerOptions): Config {
  return {
    ...config,
    http: { ...config.http, publicBaseUrl: undefined, rateLimit: undefined },
    keys: [{ account: 'command', key }],
    storage: { ...config.storage, folder, minFreeBytes: MIN_FREE_BYTES },
    live: { ...config.live, slots: live ? PRIVATE_SLOTS : 0, maxPerAccount: PRIVATE_SLOTS },
    // An unreachable collector would keep the command from ending.
    tracing: undefined,
  }
}
