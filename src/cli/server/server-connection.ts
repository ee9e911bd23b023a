import type { ProgressDisplay } from '../terminal/progress-display.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type Client, createClient } from './client.ts'
import type { Server } from './transport.ts'

/** A server to use. `uninterrupted` continues after the user has interrupted the command. */
export type ServerConnection = AsyncDisposable & {
  client: Client
  uninterrupted: Client
  /** Whether the server ends with the command, and its jobs with it. */
  isPrivate: boolean
}

/** `live`: a private server must support live sessions too. */
export type ServerConnectOptions = { terminal: Terminal; progress: ProgressDisplay; live?: boolean }

/**
 * Connects to the named server, else to the one of this machine if its key is known, else to a
 * private one.
 */
export async function connectServer(
  server: Server & { given: boolean },
  { terminal, progress, live = false }: ServerConnectOptions,
): Promise<ServerConnection> {
  const clientsOf = (found: Server) => ({
    client: createClient(found, terminal.signal),
    uninterrupted: createClient(found, new AbortController().signal),
  })
  const named = clientsOf(server)
  if (server.given || (server.key && (await named.client.isRunning()))) {
    return { ...named, isPrivate: false, async [Symbol.asyncDispose]() {} }
  }
  progress.show('steno', { stage: 'loading the models' })
  // Loaded on demand: a client of another server starts without the server's modules.
  const { startPrivateServer } = await import('./private-server.ts')
  const started = await startPrivateServer(terminal.env, {
    live,
    signal: terminal.signal,
    printLine: (stage) => progress.show('steno', { stage }),
  })
  progress.end('steno')
  async function close(): Promise<void> {
    // After an interruption the command does not wait for jobs to end: they end with the process.
    // Sessions have ended.
    if (live || !terminal.signal.aborted) await started.close()
  }
  return { ...clientsOf(started), isPrivate: true, [Symbol.asyncDispose]: close }
}
