import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { SERVER_BUNDLE } from '../../../scripts/tests/test-tools/server-bundle.ts'

/** A whole server in a process of its own, which `server-process.ts` runs. */
export type ChildServer = {
  url: string
  key: string
  process: ChildProcess
  /** How the process ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const KEY = 'child-key'
const PROGRAM = process.env[SERVER_BUNDLE] ?? join(import.meta.dirname, 'server-process.ts')

/** While all cores run tests, garbage collection in threads of its own makes starts slower. */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--single-threaded-gc']

type Options = {
  env?: Record<string, string>
  /** Milliseconds after which it is killed unless it listens by then. */
  startMs?: number | undefined
  /** Whether its log is to be read from the process, not shown. */
  silent?: boolean
  /** The prefix of its command line, such as `ip netns exec NAME`. */
  command?: readonly string[]
}

/**
 * Starts a server on `folder`; undefined when it was killed before it listened. It ends with the
 * test at the latest.
 */
export async function startChild(
  t: Pick<TestContext, 'after'>,
  folder: string,
  { env, startMs, silent = false, command = [] }: Options = {},
): Promise<ChildServer | undefined> {
  const settings = {
    STENO_DATA_DIR: folder,
    STENO_API_KEYS: `test:${KEY}`,
    STENO_LOG_LEVEL: 'error',
    STENO_PORT: '0',
    STENO_RATE_LIMIT: '0',
  }
  const [execPath, ...words] = [...command, process.execPath]
  const child = fork(PROGRAM, {
    env: { ...process.env, ...settings, ...env },
    execPath: execPath!,
    execArgv: [...words, ...FLAGS],
    silent,
  })
  t.after(() => child.kill('SIGKILL'))
  const early = startMs && setTimeout(() => child.kill('SIGKILL'), startMs)
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const first = await Promise.race([once(child, 'message'), ended.then(() => undefined)])
  clearTimeout(early)
  if (!first) return undefined
  return { url: (first[0] as { url: string }).url, key: KEY, process: child, ended }
}

/** Kills a server, as the system does when memory runs out. */
export async function kill({ process, ended }: ChildServer): Promise<void> {
  process.kill('SIGKILL')
  await ended
}
