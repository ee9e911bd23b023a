import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { type Client, createClient } from '../../src/cli/client/client.ts'
import { serve } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A server with the real models, in a separate process with a new data folder. */
export type LiveBenchServer = { client: Client; pid: number; stop(): Promise<void> }

/** Starts a server without a limit of sessions, with further settings. */
export async function startLiveServer(
  settings: Record<string, string> = {},
): Promise<LiveBenchServer> {
  const folder = await temporaryFolder()
  const { url, process } = await serve(new URL('server-process.ts', import.meta.url), {
    STENO_DATA_DIR: folder,
    STENO_API_KEYS: 'bench:bench',
    STENO_RATE_LIMIT: '0',
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    STENO_LIVE_SLOTS: '1000',
    STENO_MAX_LIVE_SESSIONS: '1000',
    STENO_MAX_AUDIO_S: '86400',
    ...settings,
  })
  const key = { url, key: 'bench', header: 'x-service-key' }
  return {
    client: createClient(key, new AbortController().signal),
    pid: process.pid!,
    async stop() {
      const ended = once(process, 'exit')
      process.send('close')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
