import { exec } from 'node:child_process'
import { hkdfSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A secret that objects are encrypted with. */
export type ObjectKey = {
  /** 16 hexadecimal digits, made of the secret; stored with each object. */
  id: string
  secret: Uint8Array
}

/** The keys of objects: new ones are encrypted with the first, all are decrypted by any. */
export type ObjectKeys = { current: ObjectKey; find(id: string): ObjectKey | undefined }

/**
 * Where the keys come from: a file, or what a command prints; neither = objects are not encrypted.
 */
export type KeySource = { file?: string | undefined; command?: string | undefined }

/** Bytes of a secret at least. */
const MIN_BYTES = 32
/** A command that asks a server for a key must not hold up a start for ever. */
const COMMAND_MS = 60_000
/** Bytes of the id of a key. */
const ID_BYTES = 8

/**
 * Reads the keys of objects; undefined if there is no source. Throws a sentence that names what is
 * wrong with it, and never holds a secret.
 */
export async function loadObjectKeys(source: KeySource): Promise<ObjectKeys | undefined> {
  const { file, command } = source
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new Error(`Cannot read the keys of objects in ${file}: ${error.code ?? error.message}`)
    })
    return parseObjectKeys(text, file)
  }
  if (command === undefined) return undefined
  return parseObjectKeys(await runKeyCommand(command), 'what STENO_OBJECT_KEY_COMMAND prints')
}

async function runKeyCommand(command: string): Promise<string> {
  try {
    const { stdout } = await promisify(exec)(command, { timeout: COMMAND_MS })
    return stdout
  } catch (error) {
    // Its message and output may hold what the command was to keep secret.
    const { code, killed } = error as { code?: unknown; killed?: boolean }
    const reason = killed ? `did not end in ${COMMAND_MS / 1000} s` : `ended with code ${code}`
    throw new Error(`STENO_OBJECT_KEY_COMMAND ${reason}`)
  }
}

/**
 * Parses keys: one per line, in base64, at least 32 bytes; the first is the one for new objects.
 * Lines that begin with `#` are comments. `source` names the place in errors.
 */
export function parseObjectKeys(text: string, source: string): ObjectKeys {
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): ObjectKey => {
      const secret = Buffer.from(line, 'base64')
      if (!/^[A-Za-z0-9+/]+=*$/.test(line) || secret.length < MIN_BYTES) {
        throw new Error(
          `Each line of ${source} must be a key of at least ${MIN_BYTES} bytes in base64, as from 'openssl rand -base64 32'`,
        )
      }
      return { id: idOf(secret), secret }
    })
  const [current] = keys
  if (!current) throw new Error(`Cannot find a key in ${source}`)
  return { current, find: (id) => keys.find((key) => key.id === id) }
}

function idOf(secret: Uint8Array): string {
  const id = hkdfSync('sha256', secret, Buffer.alloc(0), 'steno object key id', ID_BYTES)
  return Buffer.from(id).toString('hex')
}
