import { statfs } from 'node:fs/promises'

/** The disk that holds a folder, in bytes; infinite if the system does not report it. */
export type Disk = { free: number; size: number }

/** Measures a disk. */
export type MeasureDisk = () => Promise<Disk>

/**
 * Creates a function that measures the disk that holds `folder`: what is free for this user, and
 * its size.
 */
export function diskOf(folder: string): MeasureDisk {
  return async () => {
    const unknown = { free: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY }
    const found = await statfs(folder).catch(() => undefined)
    // Some network and user-space file systems report only zeros.
    if (!found || found.blocks === 0) return unknown
    return { free: found.bavail * found.bsize, size: found.blocks * found.bsize }
  }
}

/** The largest default reserve: enough for the results and journals of a day of work. */
const MAX_DEFAULT_RESERVE = 1_000_000_000
/** The share of the disk that is reserved on a small one. */
const DEFAULT_RESERVE_SHARE = 0.05

/** Returns the bytes that stay free for accepted work, unless the operator set a number. */
export function reserveOf({ size }: Pick<Disk, 'size'>, set: number | undefined): number {
  return set ?? Math.floor(Math.min(MAX_DEFAULT_RESERVE, size * DEFAULT_RESERVE_SHARE))
}
