import type { ProgressDisplay } from '../terminal/progress-display.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type Client, createClient } from './client.ts'
import type { Server } from './transport.ts'

/**
 * A server to use. The client `uninterrupted` still works after the user has interrupted the
 * command.
 */
export type ServerConnection = AsyncDisposable & {
  client: Client
  uninterrupted: Client
  /** Whether the server, with its jobs, ends with the command. */
  isPrivate: boolean
}

/** Options of a connection. With `live`, a private server runs live sessions. */
export type ServerConnectOptions = { terminal: Terminal; progress: ProgressDisplay; live?: boolean }

/**
 * Connects to the named server, else to the server on this machine if its key is known and it runs,
 * else to a new private server.
 */
export async function connectServer(
  server: Server & { isNamed: boolean },
  { terminal, progress, live = false }: ServerConnectOptions,
): Promise<ServerConnection> {
  const clientsOf = (server: Server) => ({
    client: createClient(server, terminal.signal),
    uninterrupted: createClient(server, new AbortController().signal),
  })
  const existing = clientsOf(server)
  if (server.isNamed || (server.key && (await existing.client.isRunning()))) {
    return { ...existing, isPrivate: false, async [Symbol.asyncDispose]() {} }
  }
  progress.show('steno', { stage: 'loading the models' })
  // Loaded on demand: a client of another server starts without the server's modules.
  const { startPrivateServer } = await import('../server/private-server.ts')
  const started = await startPrivateServer(terminal.env, {
    live,
    signal: terminal.signal,
    printLine: (stage) => progress.show('steno', { stage }),
  })
  progress.end('steno')
  async function close(): Promise<void> {
    // After an interruption, the command does not wait for jobs to end: they end with the process.
    // Live sessions have ended by then.
    if (live || !terminal.signal.aborted) await started.close()
  }
  return { ...clientsOf(started), isPrivate: true, [Symbol.asyncDispose]: close }
}
