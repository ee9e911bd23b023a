import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How a program is run. */
export type ProgramOptions = {
  /** The standard input of the program. */
  input: string
  env: Record<string, string>
  /** Milliseconds after which the program is killed. */
  limitMs: number
  /** Maximum bytes that the program may write. */
  maxBytes: number
  signal: AbortSignal
}

/** Why a program gave no output: it is missing, failed, took too long or wrote too much. */
export class ProgramError extends Error {}

/** The program ended by itself or was killed from outside, so a second run may succeed. */
export class ProgramEndedError extends ProgramError {}

/**
 * Runs a program without a shell and returns what it writes to its standard output. It is killed
 * with all processes that it started when it exceeds a limit or `signal` aborts. Rejects with
 * `ProgramError`, or with the reason of the abort.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { input, ...options }: ProgramOptions,
): Promise<string> {
  await using stdin = await openInput(input).catch((cause: NodeJS.ErrnoException) => {
    throw new ProgramError(`needs the folder ${tmpdir()} (${cause.code})`, { cause })
  })
  return await runOnInput(file, args, { ...options, stdin: stdin.fd })
}

/**
 * Opens a file that contains the input and is already unlinked. Apertium's script reopens
 * `/dev/stdin`, which works with a file but not with the sockets that Node creates.
 */
async function openInput(input: string): Promise<FileHandle> {
  const path = join(tmpdir(), `steno-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await unlink(path)
    // Writes at an explicit position, so the program reads from the beginning.
    await handle.write(input, 0)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function runOnInput(
  file: string,
  args: readonly string[],
  { stdin, env, limitMs, maxBytes, signal }: Omit<ProgramOptions, 'input'> & { stdin: number },
): Promise<string> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // In a separate process group, a pipeline of many programs is killed as a whole.
  const child = spawn(file, args, {
    env,
    cwd: '/',
    detached: true,
    stdio: [stdin, 'pipe', 'ignore'],
  })
  const kill = () => {
    if (child.pid === undefined) return
    try {
      if (process.platform === 'win32') child.kill()
      else process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  const fail = (error: unknown) => {
    reject(error)
    kill()
  }
  const limit = setTimeout(() => fail(new ProgramError('took too long')), limitMs)
  const abort = () => fail(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const written: Buffer[] = []
  let bytes = 0
  child.stdout!.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) fail(new ProgramError('wrote too much'))
    else written.push(chunk)
  })
  child.on('error', (cause: NodeJS.ErrnoException) => {
    fail(new ProgramError(`cannot be started (${cause.code})`, { cause }))
  })
  child.on('close', (code) => {
    if (code === 0) resolve(Buffer.concat(written).toString())
    else reject(new ProgramEndedError(`ended with ${code ?? 'a signal'}`))
  })
  try {
    return await promise
  } finally {
    clearTimeout(limit)
    signal.removeEventListener('abort', abort)
  }
}
