import { readClientConfig } from '../../config/config.ts'
import { readSettings, UsageError } from '../terminal/arguments.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Server } from './transport.ts'

/** The options of all client commands that name the server and the key. */
export const serverOptions = { server: { type: 'string' }, key: { type: 'string' } } as const

/** The text of these options in `--help`. */
export const serverHelp = `  --server URL     the server; default: STENO_URL, else the server on this machine
  --key KEY        the API key; default: STENO_KEY
`

/**
 * Returns the server that the options and the environment name; `isNamed` is false for the default
 * on this machine.
 */
export function readServer(
  options: { server?: string | undefined; key?: string | undefined },
  { env }: Pick<Terminal, 'env'>,
): Server & { isNamed: boolean } {
  const config = readSettings(readClientConfig, env)
  const { server = config.url, key = config.key } = options
  const parsed = server === undefined ? null : URL.parse(server)
  if (parsed && (parsed.username || parsed.password)) {
    throw new UsageError('--server must be a URL without user name and password: use --key')
  }
  if (server !== undefined && !(parsed && /^https?:\/\//i.test(server))) {
    throw new UsageError(`--server must be an http or https URL, not '${server}'`)
  }
  if (parsed && (parsed.search || parsed.hash)) {
    throw new UsageError('--server must be a URL without query and fragment')
  }
  if (key !== undefined && !/^[!-~]*$/.test(key)) {
    throw new UsageError('--key has characters that no API key has')
  }
  const url = server ?? localUrl(config.local)
  return { url, key, header: config.authHeaderName, isNamed: server !== undefined }
}

/** Returns the address under which this machine reaches a server that listens on `host`. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const reachable = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
