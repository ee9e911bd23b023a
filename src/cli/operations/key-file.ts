import { readFile } from 'node:fs/promises'
import { UsageError } from '../terminal/arguments.ts'
import { explainReading } from '../terminal/file-errors.ts'

/** The option that names the key of encrypted backups. */
export const keyFileOption = { 'key-file': { type: 'string' } } as const

/** The text of the option in `--help`. */
export const keyFileHelp = `  --key-file FILE  encrypts the backup, or opens an encrypted one. FILE contains at least 32 random bytes,
                   for instance from 'openssl rand -out FILE 32'. Without FILE nobody can restore the backup
`

/** Reads the key of encrypted backups; undefined if none is named. */
export async function readKeyFile(path: string | undefined): Promise<Uint8Array | undefined> {
  if (path === undefined) return undefined
  return readFile(path).catch((cause: unknown) => {
    throw new UsageError(`Cannot read the key ${path}: ${explainReading(cause)}`, { cause })
  })
}
