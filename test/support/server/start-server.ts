import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../../src/app/app.ts'
import type { App } from '../../../src/app/app-type.ts'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { Clock } from '../../../src/delivery/system-clock.ts'
import { createLog, type Log } from '../../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../asr/fake-speech-engine.ts'
import { connectInProcess } from '../storage/databases/in-process-sqlite.ts'
import { sharedParts } from './shared-parts.ts'

export type TestServer = {
  url: string
  /** A key of the account `test`; `OTHER_KEY` belongs to another one. */
  key: string
  app: App
  folder: string
  close(): Promise<void>
}

/** A key of the account `other`. */
export const OTHER_KEY = 'other-key'

const KEY = 'test-key'

/**
 * Starts the real server in this process, on a free port and with a data folder of its own, which
 * `close` removes. It recognizes "hello world" in every five seconds unless `speech` replaces the
 * engine. With a `log` of its own, its text steps run in threads of its own as well. The
 * database has no thread.
 */
export async function startServer(
  options: { speech?: SpeechEngine; log?: Log; clock?: Clock; env?: Record<string, string> } = {},
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const config = readConfig({
      STENO_DATA_DIR: folder,
      STENO_API_KEYS: `test:${KEY},other:${OTHER_KEY}`,
      STENO_ALLOW_PRIVATE_NETWORK: 'true',
      STENO_RATE_LIMIT: '0',
      ...options.env,
    })
    const speech = options.speech ?? createFakeSpeechEngine('hello world')
    const { clock, log = createLog('silent') } = options
    const shared = options.log ? { connect: connectInProcess } : sharedParts()
    const app = await createApp(config, { speech, clock, log, ...shared })
    const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
    const close = () => app.close().finally(removeFolder)
    return { url, key: KEY, app, folder, close }
  } catch (error) {
    await removeFolder()
    throw error
  }
}
