import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The credentials of every test server. */
export const TEST_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'steno-test',
  AWS_SECRET_ACCESS_KEY: 'steno-test-secret',
}

const START_MS = 20_000

/** An S3 server with one bucket `test`, which is a folder in `folder`. */
export type TestS3 = { endpoint: string; folder: string; end(): Promise<void> }

/** Where a server runs: its address, and what precedes the words of its command. */
export type TestS3Place = { host?: string; command?: readonly string[] }

/** Returns why no server can be started here; undefined if one can. */
export function whyNoS3(): string | undefined {
  return findBinary() ? undefined : 'the S3 server versitygw is not installed'
}

/**
 * Starts the Versity S3 gateway over a folder of its own, on a port of its own. It ends with this
 * process.
 */
export async function startS3({
  host = '127.0.0.1',
  command = [],
}: TestS3Place = {}): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-s3-'))
  for (const name of ['buckets/test', 'attributes'])
    mkdirSync(join(folder, name), { recursive: true })
  const port = await findPort()
  const address = `${host}:${port}`
  const args = ['--port', address, '--quiet', '--health', '/health']
  // Not every file system of a test machine has attributes.
  const place = ['posix', '--sidecar', join(folder, 'attributes'), join(folder, 'buckets')]
  const env = {
    ROOT_ACCESS_KEY: TEST_CREDENTIALS.AWS_ACCESS_KEY_ID,
    ROOT_SECRET_KEY: TEST_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
    HOME: folder,
  }
  const [program, ...words] = [...command, findBinary()!, ...args, ...place]
  const child = spawn(program!, words, { env: { ...env, PATH: process.env.PATH }, stdio: 'ignore' })
  child.unref()
  const ended = once(child, 'exit')
  // Several test files share a process, so no hook of one of them may end it.
  const remove = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  process.once('exit', remove)
  const endpoint = `http://${address}`
  const until = Date.now() + START_MS
  while (!(await fetch(`${endpoint}/health`).catch(() => undefined))?.ok) {
    if (Date.now() > until || child.exitCode !== null) throw new Error('versitygw did not start')
    await delay(20)
  }
  return {
    endpoint,
    folder,
    async end() {
      process.off('exit', remove)
      remove()
      await ended
    },
  }
}

/** Returns the program, from the path or where `go install` puts it. */
function findBinary(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(homedir(), 'go', 'bin')]
  return folders.map((folder) => join(folder, 'versitygw')).find((path) => existsSync(path))
}

async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
