import { PassThrough } from 'node:stream'
import { runCommand } from '../../../src/cli/commands.ts'

/** Runs `steno …args` in this process, which is faster than a new one, and collects its output. */
export async function runHere(args: readonly string[], env: Record<string, string> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const { signal } = new AbortController()
  const code = await runCommand(args, { env, stdin, stdout, stderr, signal })
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}
