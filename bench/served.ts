import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** A server in a process of its own. */
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

/** The server of this project on a data folder; key `bench`, no rate limit. */
export function serveSteno(folder: string, env: Record<string, string> = {}): Promise<Served> {
  return serve(new URL('server-process.ts', import.meta.url), {
    STENO_DATA_DIR: folder,
    STENO_API_KEYS: 'bench:bench',
    STENO_RATE_LIMIT: '0',
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    ...env,
  })
}

/** Most bytes that a process has held at a time. Linux only (/proc). */
export async function peakMemory({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}
