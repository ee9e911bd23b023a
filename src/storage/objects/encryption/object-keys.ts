import { exec } from 'node:child_process'
import { hkdfSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A secret with which objects are encrypted. */
export type ObjectKey = {
  /** An id of 16 hexadecimal digits, derived from the secret; stored with each object. */
  id: string
  secret: Uint8Array
}

/** The keys of objects: the first encrypts new objects, and any can decrypt. */
export type ObjectKeys = { current: ObjectKey; find(id: string): ObjectKey | undefined }

/**
 * The source of the keys: a file, or the output of a command. Without one, objects are not
 * encrypted.
 */
export type KeySource = { file?: string | undefined; command?: string | undefined }

/** The minimum length of a secret in bytes. */
const MIN_BYTES = 32
/**
 * The timeout of a command that gets the key from a server, so that it cannot block the start
 * forever.
 */
const COMMAND_MS = 60_000
/** The length of the id of a key in bytes. */
const ID_BYTES = 8

/**
 * Reads the keys of objects; undefined without a source. Throws a message that describes the
 * problem and never contains a secret.
 */
export async function loadObjectKeys(source: KeySource): Promise<ObjectKeys | undefined> {
  const { file, command } = source
  if (file !== undefined) {
    const name = `${file} (STENO_OBJECT_KEY_FILE)`
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new Error(`Cannot read the keys of objects in ${name}: ${error.code ?? error.message}`)
    })
    return parseObjectKeys(text, name)
  }
  if (command === undefined) return undefined
  return parseObjectKeys(await runKeyCommand(command), 'what STENO_OBJECT_KEY_COMMAND prints')
}

async function runKeyCommand(command: string): Promise<string> {
  try {
    const { stdout } = await promisify(exec)(command, { timeout: COMMAND_MS })
    return stdout
  } catch (error) {
    // The message and the output of the command may contain the secret.
    const { code, killed } = error as { code?: unknown; killed?: boolean }
    const reason = killed ? `did not end in ${COMMAND_MS / 1000} s` : `ended with code ${code}`
    throw new Error(`STENO_OBJECT_KEY_COMMAND ${reason}`)
  }
}

/**
 * Parses keys: one per line, in base64, with at least 32 bytes. The first one encrypts new objects.
 * Lines that begin with `#` are comments. Errors name `source`.
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
