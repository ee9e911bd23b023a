import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { createLink } from '../../api/auth/sign-in.ts'
import { createApp, type Overrides } from '../../app/app.ts'
import type { App } from '../../app/app-type.ts'
import { findConfinement } from '../../audio/decoder/sandbox/decoder-sandbox.ts'
import { type Config, readConfig, settingNames, unknownSettings } from '../../config/config.ts'
import { shownSettings } from '../../config/shown-settings.ts'
import { readProgramVersion } from '../../config/version.ts'
import { AppError } from '../../errors.ts'
import { createServerLog, type Log } from '../../observability/log.ts'
import { recordAudit } from '../../storage/accounts/audit-log.ts'
import { isDatabaseLost } from '../../storage/database/nodes/lost-database.ts'
import { createFirstKey } from '../accounts/first-key.ts'
import { localUrl } from '../client/server-url.ts'
import { requireModels } from '../models/require-models.ts'
import { checkUser } from '../operations/doctor/check-confinement.ts'
import { checkDataFolder } from '../operations/doctor/checks.ts'
import { findExposures } from '../operations/doctor/exposure.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { makeFilesPrivate } from './private-files.ts'
import { formatStartMessage } from './start-message.ts'
import { explainListenError, tryListening } from './try-listening.ts'

const help = `Usage: steno serve

Runs the server until it receives Ctrl-C or SIGTERM. It then finishes running requests and exits; a second
signal ends it at once. The next start resumes all jobs that were accepted and not finished.

Settings are environment variables: docs/configuration.md, also below /guide of a running server. Logs go to
stderr: text on a terminal, otherwise JSON lines.
`

/** `steno serve`: runs the server until it is stopped. */
export const serveCommand: Command = {
  help,
  async run(args, terminal) {
    if (parseArguments(args, {}).positionals.length > 0) {
      throw new UsageError('serve takes no arguments, only settings from the environment')
    }
    await serve(terminal)
    return 0
  },
}

/** Runs the server until `signal` aborts. Tests may override parts of it. */
export async function serve(
  { env, stdout, signal }: Pick<Terminal, 'env' | 'stdout' | 'signal'>,
  overrides: Overrides = {},
): Promise<void> {
  makeFilesPrivate()
  const config = readSettings(readConfig, env)
  const log = createServerLog(config)
  for (const name of unknownSettings(env)) log.warn({ name }, 'unknown setting ignored')
  for (const exposure of findExposures(config)) log.warn(exposure, 'this server is exposed')
  if (!overrides.speech)
    await requireModels(config, { printLine: (line) => log.info(line), signal })
  // Checked before the data folder is created, so that a failed start leaves nothing behind.
  await tryListening(config.http).catch((error) => refuseAddress(config, error))
  await requireDataFolder(config)
  exitOnUncaught(log)
  const app = await createApp(config, { log, signal, ...overrides }).catch((error) => {
    // The signal stopped a migration. No other step of a start is interrupted.
    if (!signal.aborted) throw error
    log.info('stopped during startup')
  })
  if (!app) return
  try {
    // Logged only now: a failed start reports its reason in one line, and the check takes a moment.
    logPrivileges(log)
    const url = await startListening(app)
    await recordStart(app, env)
    const key = await createFirstKey(app)
    const link = key === undefined ? undefined : await createLink(app.storage, key)
    stdout.write(formatStartMessage({ url, key, link, config }))
    // Loaded in advance: loading blocks the event loop for 90 ms.
    await import('undici')
    if (!signal.aborted) await once(signal, 'abort')
    log.info('stopping')
  } finally {
    await close(app)
  }
  log.info('stopped')
}

/** Closes the server, or gives up its last writes once the database is lost. */
async function close({ close, storage: { db }, log }: App): Promise<void> {
  const closing = new AbortController()
  const closed = close().finally(() => closing.abort())
  const isLost = db.isShared && (await Promise.race([closed, isDatabaseLost(db, closing)]))
  if (!isLost) return closed
  log.error('the database does not respond: the server exits without its last writes')
  throw new AppError('database_unavailable')
}

/**
 * Logs an unexpected error and exits, since the state of the server is unknown then. The supervisor
 * starts another process, which resumes all accepted work, as after any crash.
 */
function exitOnUncaught(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, 'unexpected error, the server exits')
    process.exit(1)
  })
}

/** Logs for the operator what a decoder could access if a malicious file took control of it. */
function logPrivileges(log: Log): void {
  const { state, text, remedy } = checkUser()
  if (state === 'warn') log.warn({ remedy }, text)
  log.info({ confinement: findConfinement() }, 'decoders are confined as far as the system allows')
}

/** Records in the audit log that the server started, and its settings. */
async function recordStart({ storage: { db }, log }: App, env: Terminal['env']): Promise<void> {
  const settings = shownSettings(env, settingNames())
  const details = { version: readProgramVersion(), host: hostname(), settings }
  await recordAudit(db, { action: 'server.started', details }, { source: 'server' }).catch(
    (err) => {
      log.warn({ err }, 'cannot record the start in the audit log')
    },
  )
}

async function requireDataFolder(config: Config): Promise<void> {
  const { state, text, remedy } = await checkDataFolder(config)
  if (state === 'fail') throw new Error(`Cannot start: ${text}; ${remedy}`)
}

/** Starts to listen and resolves to the address by which this machine reaches the server. */
async function startListening({ http, config }: App): Promise<string> {
  const { host, port } = config.http
  await http.listen({ host, port }).catch((error) => refuseAddress(config, error))
  return localUrl({ host, port: (http.server.address() as AddressInfo).port })
}

function refuseAddress({ http: { host, port } }: Config, cause: unknown): never {
  throw new Error(`Cannot listen on ${host}:${port}: ${explainListenError(cause)}`, { cause })
}
