import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** A server in a separate process. */
export type Served = { url: string; process: ChildProcess; stop(): Promise<void> }

/** Starts `script`, which sends its address when it listens. */
export async function serve(script: URL, env: Record<string, string> = {}): Promise<Served> {
  const child = fork(script, { env: { ...process.env, ...env }, stdio: 'inherit' })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    process: child,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/**
 * Starts the server of this project on a data folder, with the key `bench` and without rate limit.
 */
export function serveSteno(folder: string, env: Record<string, string> = {}): Promise<Served> {
  return serve(new URL('server-process.ts', import.meta.url), {
    STENO_DATA_DIR: folder,
    STENO_API_KEYS: 'bench:bench',
    STENO_RATE_LIMIT: '0',
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    ...env,
  })
}

/** Returns the peak resident memory of a process in bytes. Linux only (/proc). */
export async function peakMemory({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}

/** Clock ticks a second in /proc, on every machine. */
const TICKS = 100

/** Returns the processor time of all threads of a process in milliseconds. Linux only. */
export async function processorTime({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The fields after the name, which may contain spaces; user and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS
}
