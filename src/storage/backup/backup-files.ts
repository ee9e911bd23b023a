import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../errors.ts'
import { storageError } from '../data-folder/storage-error.ts'
import { writeDurably } from '../objects/disk/durable-file.ts'
import { DamagedFileError } from '../objects/encryption/encrypted-chunks.ts'
import { readLazily } from '../objects/read-lazily.ts'
import type { BackupEncryption } from './backup-encryption.ts'

/** The size of a file in bytes, and its fingerprint in hex. */
export type Content = { size: number; digest: string }

/** Returns whether a value from a manifest can be such a size and fingerprint. */
export function isContent({ size, digest }: { size: unknown; digest: unknown }): boolean {
  const isSize = Number.isSafeInteger(size) && (size as number) >= 0
  return isSize && typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest)
}

/** Called with the number of bytes that were read or written. */
export type OnBytes = (bytes: number) => void

const READ_BYTES = 1024 * 1024

/** Reads a file, or its first bytes, in large blocks. Opens it when the first are requested. */
export function readInLargeBlocks(
  path: string,
  { size }: { size?: number } = {},
): AsyncGenerator<Uint8Array> {
  return readLazily(path, { size, readBytes: READ_BYTES })
}

/** Passes bytes on, and measures their size and fingerprint. */
export async function* measureContent(
  content: AsyncIterable<Uint8Array>,
  encryption: BackupEncryption,
  { onBytes, onEnd }: { onBytes?: OnBytes | undefined; onEnd: (content: Content) => void },
): AsyncGenerator<Uint8Array> {
  const digest = encryption.digest()
  let size = 0
  for await (const bytes of content) {
    digest.update(bytes)
    size += bytes.length
    onBytes?.(bytes.length)
    yield bytes
  }
  onEnd({ size, digest: digest.digest('hex') })
}

/**
 * Runs `work`, which writes to a folder. If the disk is full, the error names the folder and the
 * remedy.
 */
export async function reportFullDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isFullDisk(error)) throw error
    const reason = 'no space is left; make space and run the same command again'
    throw new Error(`Cannot write to ${folder}: ${reason}`, { cause: error })
  }
}

function isFullDisk(error: unknown): boolean {
  const knownError = storageError(error)
  if (knownError instanceof AppError) return knownError.code === 'storage_full'
  return error instanceof Error && isFullDisk(error.cause)
}

/** Writes a whole file with `writeDurably`, and creates its folder. */
export async function writeAtomically(
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeDurably(path, content)
}

/**
 * A stored file: the name with which it was encrypted, its path, and its expected size and
 * fingerprint.
 */
export type StoredFile = { name: string; path: string; expected: Content }

/**
 * Yields the content of a stored file; fails with `DamagedFileError` if it differs from what was
 * written.
 */
export async function* readChecked(
  { name, path, expected }: StoredFile,
  encryption: BackupEncryption,
  { onBytes }: { onBytes?: OnBytes | undefined } = {},
): AsyncGenerator<Uint8Array> {
  let measuredContent: Content | undefined
  const onEnd = (content: Content) => {
    measuredContent = content
  }
  try {
    yield* measureContent(encryption.decrypt(name, readInLargeBlocks(path)), encryption, {
      onBytes,
      onEnd,
    })
  } catch (error) {
    if (error instanceof DamagedFileError) throw new DamagedFileError(`${name}: ${error.message}`)
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new DamagedFileError(`${name}: it is missing`)
    throw error
  }
  if (measuredContent?.size === expected.size && measuredContent.digest === expected.digest) return
  throw new DamagedFileError(
    measuredContent!.size < expected.size
      ? `${name}: it is truncated`
      : `${name}: its content was changed`,
  )
}
