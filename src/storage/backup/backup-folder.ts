import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataFolder } from '../data-folder/data-folder.ts'
import { FolderInUseError, lockFolder } from '../database/sqlite/folder-lock.ts'
import { writeDurably } from '../objects/disk/durable-file.ts'
import {
  type BackupEncryption,
  deriveBackupKey,
  encryptWith,
  noEncryption,
} from './backup-encryption.ts'

/** A folder of backups: snapshots of a database, and the objects that they refer to. */
export type BackupFolder = { path: string; encryption: BackupEncryption }

/** The version of the format, which later versions of the program may change. */
const FORMAT = 1
const HEAD = 'backup.json'
const HEX = /^[0-9a-f]{64}$/
/** The shortest key in bytes; a shorter one could be guessed. */
const MIN_KEY_BYTES = 32

/** The salt and the check value of the key, in hex; absent without encryption. */
type Head = { format: number; salt?: string; check?: string }

/** Opens a folder of backups; an encrypted one needs the content of the key file. */
export async function openBackupFolder(
  path: string,
  { key }: { key: Uint8Array | undefined },
): Promise<BackupFolder> {
  const text = await readFile(join(path, HEAD), 'utf8').catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`Cannot find a backup in ${path}: it has no ${HEAD}`)
  })
  return { path, encryption: encryptionOf(parseHead(text, path), path, key) }
}

/** Opens a folder of backups. A missing one is created, encrypted if there is a key. */
export async function createBackupFolder(
  path: string,
  { key }: { key: Uint8Array | undefined },
): Promise<BackupFolder> {
  await makeDataFolder(path)
  const names = await readdir(path)
  if (names.includes(HEAD)) return openBackupFolder(path, { key })
  // A killed process may have left an incomplete file.
  const otherNames = names.filter(
    (name) => name !== `${HEAD}.part` && !name.startsWith('server.lock'),
  )
  if (otherNames.length > 0) throw new Error(`Cannot back up into ${path}: it holds other files`)
  const head: Head = { format: FORMAT }
  if (key) {
    const salt = randomBytes(32)
    head.salt = salt.toString('hex')
    head.check = deriveBackupKey(secretOf(key, salt), salt, 'check').toString('hex')
  }
  await writeDurably(join(path, HEAD), `${JSON.stringify(head)}\n`)
  return { path, encryption: encryptionOf(head, path, key) }
}

/** Locks the folder against other writers; throws if another process has it locked. */
export function lockBackupFolder(path: string): { release(): void } {
  try {
    return lockFolder(path)
  } catch (error) {
    if (!(error instanceof FolderInUseError)) throw error
    throw new Error(`Cannot back up into ${path}: another backup is being written there`)
  }
}

function parseHead(text: string, path: string): Head {
  let head: unknown
  try {
    head = JSON.parse(text)
  } catch {}
  const { format, salt, check } = (head ?? {}) as Record<keyof Head, unknown>
  const isHex = (value: unknown) => typeof value === 'string' && HEX.test(value)
  const areKnown = [salt, check].every((value) => value === undefined || isHex(value))
  if (format === FORMAT && areKnown) return head as Head
  if (typeof format !== 'number' || format === FORMAT) {
    throw new Error(`Cannot read ${join(path, HEAD)}: it is damaged`)
  }
  throw new Error(
    `Cannot read the backup in ${path}: it has format ${format}, this program supports format ${FORMAT}`,
  )
}

function encryptionOf(
  { salt, check }: Head,
  path: string,
  key: Uint8Array | undefined,
): BackupEncryption {
  if (!salt || !check) {
    if (key) throw new Error(`The backup in ${path} is not encrypted: leave --key-file out`)
    return noEncryption
  }
  if (!key) throw new Error(`The backup in ${path} is encrypted: name its key with --key-file`)
  const bytes = Buffer.from(salt, 'hex')
  const secret = secretOf(key, bytes)
  const derived = deriveBackupKey(secret, bytes, 'check')
  const storedCheck = Buffer.from(check, 'hex')
  if (derived.length !== storedCheck.length || !timingSafeEqual(derived, storedCheck)) {
    throw new Error(`The key cannot decrypt the backup in ${path}`)
  }
  return encryptWith(secret)
}

function secretOf(key: Uint8Array, salt: Uint8Array): Buffer {
  if (key.length >= MIN_KEY_BYTES) return deriveBackupKey(key, salt, 'secret')
  throw new Error(
    `Cannot use the key: its file has ${key.length} bytes, at least ${MIN_KEY_BYTES} random ones are needed`,
  )
}
