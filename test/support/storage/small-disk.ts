import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own, and what removes it. */
export type SmallDisk = { folder: string; unmount(): void }

/** Mounts a tmpfs of `bytes` bytes; returns undefined where mounting is not allowed. */
export function mountSmallDisk(bytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'steno-disk-'))
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]
    execFileSync('mount', options, { stdio: 'ignore' })
  } catch {
    rmdirSync(folder)
    return undefined
  }
  const unmount = () => {
    execFileSync('umount', [folder])
    rmdirSync(folder)
  }
  return { folder, unmount }
}
