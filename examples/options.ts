import { parseArgs } from 'node:util'
import type { Server } from './live-session.ts'

/** Where a program listens. */
export type Listen = { host: string; port: number }

/** A mistake in the options of a program. */
export class UsageError extends Error {}

/**
 * Reads the options of a program: those of all, `--server`, `--key`, `--listen` and `--help`, and
 * its own, which take a text each.
 */
export function readOptions<K extends string>(
  args: readonly string[],
  { own, port }: { own: readonly K[]; port: number },
): { help: boolean; server: Server; listen: Listen; values: Partial<Record<K, string>> } {
  const text = { type: 'string' } as const
  const names = Object.fromEntries(own.map((name) => [name, text]))
  const values = parse(args, { ...names, server: text, key: text, listen: text })
  const url = values.server ?? process.env.STENO_URL ?? 'http://127.0.0.1:7070'
  const key = values.key ?? process.env.STENO_KEY ?? ''
  if (!URL.canParse(url)) throw new UsageError(`--server is no address: ${url}`)
  const help = args.includes('--help')
  if (key === '' && !help) throw new UsageError('Give a key with STENO_KEY or --key')
  const listen = readListen(values.listen ?? `127.0.0.1:${port}`)
  return { help, server: { url, key }, listen, values: values as Partial<Record<K, string>> }
}

function parse(
  args: readonly string[],
  texts: Record<string, { type: 'string' }>,
): Record<string, string | undefined> {
  try {
    const options = { ...texts, help: { type: 'boolean' as const } }
    return parseArgs({ args: [...args], options }).values as Record<string, string | undefined>
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function readListen(text: string): Listen {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) {
    throw new UsageError(`--listen is HOST:PORT or PORT, not ${text}`)
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

/** Runs a program: mistakes in its options end it with code 2, other failures with 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
