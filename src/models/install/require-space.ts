import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type CatalogModel, downloadBytes } from '../catalog.ts'

/** The bytes that stay free after the installation of a model. */
const SPARE_BYTES = 100_000_000

/**
 * Rejects with an `Error` when the disk has no space for the missing files of a model in the folder
 * `downloads` and for their unpacked or converted copies.
 */
export async function requireSpace(downloads: string, model: CatalogModel): Promise<void> {
  const total = downloadBytes(model)
  let present = 0
  for (const { sha256 } of model.files) {
    const path = join(downloads, sha256)
    present += (await sizeOnDisk(path)) ?? (await sizeOnDisk(`${path}.part`)) ?? 0
  }
  const isRewritten = model.conversion !== undefined || model.files.some((file) => file.members)
  const needed = total - present + (isRewritten ? 2 * total : 0) + SPARE_BYTES
  const disk = await statfs(downloads)
  // Some network and user-space file systems report only zeros.
  const free = disk.blocks === 0 ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize
  if (free >= needed) return
  throw new Error(
    `Cannot install ${model.id}: it needs ${inGigabytes(needed)} of disk space for a while, ` +
      `${inGigabytes(free)} are free; free some, or set STENO_MODELS_DIR to another disk`,
  )
}

/** Formats bytes as gigabytes, or as megabytes if they are few. */
export function inGigabytes(bytes: number): string {
  return bytes < 1e8 ? `${Math.floor(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

/** Returns the size of a file; undefined when there is none. */
export async function sizeOnDisk(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size
}
