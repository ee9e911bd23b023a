import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../app.ts'
import { type Config, readConfig } from '../../config.ts'
import { createLog } from '../../log.ts'
import { readSettings } from '../arguments.ts'
import { requireModels } from '../models/require-models.ts'
import type { Server } from './client.ts'

/**
 * A server for one command: on a free port of this machine, with data that are deleted afterwards.
 */
export type PrivateServer = Server & { close(): Promise<void> }

/**
 * Starts a private server, on request for live sessions too. Its errors reach the user through the
 * jobs, not as a log.
 */
export async function startPrivateServer(
  env: Record<string, string | undefined>,
  { live = false } = {},
): Promise<PrivateServer> {
  const config = readSettings(readConfig, env)
  await requireModels(config)
  const folder = await mkdtemp(join(tmpdir(), 'steno-'))
  // An interruption ends the process without a `close`; a decoder may still write for a moment.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', removeFolder)
  try {
    const key = randomBytes(32).toString('base64url')
    const app = await createApp(privateConfig(config, { folder, key, live }), {
      log: createLog('fatal'),
    })
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
    removeFolder()
    throw error
  }
}

type Own = { folder: string; key: string; live: boolean }

function privateConfig(config: Config, { folder, key, live }: Own): Config {
  return {
    ...config,
    http: { ...config.http, publicBaseUrl: undefined, rateLimit: undefined },
    keys: [{ account: 'command', key }],
    storage: { ...config.storage, folder },
    live: live ? config.live : { ...config.live, slots: 0 },
    // An unreachable collector would keep the command from ending.
    tracing: undefined,
  }
}
