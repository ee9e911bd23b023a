import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'

const main = join(import.meta.dirname, '../../../src/main.ts')

/** A recording that ships with the project: eleven seconds of English. */
export const SAMPLE = join(import.meta.dirname, '../../fixtures/jfk.flac')

type Options = { env?: Record<string, string>; cwd?: string; ipc?: boolean }
type Steno = ChildProcessByStdio<Writable, Readable, Readable>

/** Starts `steno …args` as a user would, with none of the settings of this shell. */
export function startSteno(args: readonly string[], { env, cwd, ipc }: Options = {}): Steno {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STENO_'))
  const command = ['--disable-warning=ExperimentalWarning', main, ...args]
  return spawn(process.execPath, command, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['pipe', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  }) as unknown as Steno
}

/** Runs `steno …args` to its end; `input` is its standard input. */
export async function runSteno(
  args: readonly string[],
  { input, ...options }: Options & { input?: Uint8Array } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = startSteno(args, options)
  child.stdin.end(input)
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await closed
  return { code, stdout, stderr }
}
