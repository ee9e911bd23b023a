import { statfs } from 'node:fs/promises'

/** The disk that holds a folder, in bytes; infinite if the system does not report it. */
export type Disk = { free: number; size: number }

/** Measures a disk. */
export type MeasureDisk = () => Promise<Disk>

/**
 * Milliseconds for which a measurement is reused: too short for a disk to fill up, and long enough
 * for a thousand new jobs per second to share it.
 */
const VALID_MS = 10

/**
 * Creates a function that measures the disk of `folder`: the free bytes for this user, and its
 * size. `now` counts milliseconds and never goes back.
 */
export function createDiskMeter(
  folder: string,
  { now = () => performance.now(), stat = statfs } = {},
): MeasureDisk {
  let last: { at: number; disk: Promise<Disk> } | undefined

  async function measure(): Promise<Disk> {
    const unknown = { free: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY }
    const folderStat = await stat(folder).catch(() => undefined)
    // Some network and user-space file systems report only zeros.
    if (!folderStat || folderStat.blocks === 0) return unknown
    return {
      free: folderStat.bavail * folderStat.bsize,
      size: folderStat.blocks * folderStat.bsize,
    }
  }

  return () => {
    if (!last || now() - last.at >= VALID_MS) last = { at: now(), disk: measure() }
    return last.disk
  }
}

/** The largest default reserve, enough for the results and journals of a day. */
const MAX_DEFAULT_RESERVE = 1_000_000_000
/** The share of a small disk that is reserved. */
const DEFAULT_RESERVE_SHARE = 0.05

/**
 * Returns the bytes that stay free for accepted work; `configured` is the setting of the operator.
 */
export function reserveOf({ size }: Pick<Disk, 'size'>, configured: number | undefined): number {
  return configured ?? Math.floor(Math.min(MAX_DEFAULT_RESERVE, size * DEFAULT_RESERVE_SHARE))
}
