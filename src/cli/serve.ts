import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type App, createApp } from '../app.ts'
import { type Config, readConfig, unknownSettings } from '../config.ts'
import { createLog } from '../log.ts'
import { parseArguments, readSettings, UsageError } from './arguments.ts'
import { checkDataFolder } from './checks.ts'
import { createFirstKey } from './first-key.ts'
import { requireModels } from './models.ts'
import { listenProblem, localUrl, tryListening } from './servers.ts'
import type { Command } from './terminal.ts'
import { welcome } from './welcome.ts'

const help = `Usage: steno serve

Runs the server until it is told to stop (Ctrl-C, SIGTERM): it then ends what it is doing and closes;
a second signal ends it at once. What was accepted and not finished goes on at the next start.

Settings are environment variables, see docs/configuration.md. Logs are JSON lines on stderr.
`

/** `steno serve`: the server itself, the one command that is no client. */
export const serveCommand: Command = {
  help,
  async run(args, { env, stdout, signal }) {
    if (parseArguments(args, {}).positionals.length > 0) {
      throw new UsageError('serve takes no arguments, only settings from the environment')
    }
    const config = readSettings(readConfig, env)
    const log = createLog(config.logLevel)
    for (const name of unknownSettings(env)) log.warn({ name }, 'unknown setting ignored')
    await requireModels(config)
    // Before the data folder is made: a start that cannot be leaves nothing behind.
    await tryListening(config.http).catch((error) => refuseAddress(config, error))
    await requireDataFolder(config)
    const app = await createApp(config, { log })
    try {
      const url = await listen(app)
      const key = await createFirstKey(app)
      stdout.write(welcome({ url, key, config }))
      if (!signal.aborted) await once(signal, 'abort')
      log.info('stopping')
    } finally {
      await app.close()
    }
    log.info('stopped')
    return 0
  },
}

async function requireDataFolder(config: Config): Promise<void> {
  const { state, text, remedy } = await checkDataFolder(config)
  if (state === 'fail') throw new Error(`Cannot start: ${text}; ${remedy}`)
}

/** Opens the door and resolves to the address by which this machine reaches it. */
async function listen({ http, config }: App): Promise<string> {
  const { host, port } = config.http
  await http.listen({ host, port }).catch((error) => refuseAddress(config, error))
  return localUrl({ host, port: (http.server.address() as AddressInfo).port })
}

function refuseAddress({ http: { host, port } }: Config, cause: unknown): never {
  throw new Error(`Cannot listen on ${host}:${port}: ${listenProblem(cause)}`, { cause })
}
