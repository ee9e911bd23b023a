import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { LocalFile } from '../object-store.ts'

/**
 * A file with the bytes of an object, which programs may be using. Its size is 0 until `made`
 * resolves.
 */
type LocalObjectCopy = {
  path: string
  size: number
  made: Promise<void>
  users: number
  expiry?: NodeJS.Timeout
}

/** How long an unused copy is kept. It is short, because other nodes may delete the object. */
const KEPT_MS = 5 * 60_000

/**
 * Files with the bytes of objects, for programs that need a path. Unused copies are kept for
 * `keptMs`, and up to `maxBytes` together; the ones used longest ago go first. The folder is for
 * one process.
 */
export class LocalCopies {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #keptMs: number
  /** The copies by the name of the version of the object; the one used last is last. */
  readonly #copies = new Map<string, LocalObjectCopy>()

  constructor(
    folder: string,
    { maxBytes, keptMs = KEPT_MS }: { maxBytes: number; keptMs?: number },
  ) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#keptMs = keptMs
  }

  /** Returns a path for a new file in the folder. */
  async newPath(): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return join(this.#folder, randomUUID())
  }

  /** Keeps a file of `newPath` as the copy of a version. */
  async keep(version: string, file: { path: string; size: number }): Promise<void> {
    if (this.#copies.has(version)) return rm(file.path, { force: true })
    const copy = { ...file, made: Promise.resolve(), users: 0 }
    this.#copies.set(version, copy)
    this.#expire(version, copy)
    await this.#shrink()
  }

  /**
   * Removes the copies of versions that begin with `start`; one in use is removed after its last
   * use.
   */
  async remove(start: string): Promise<void> {
    for (const [version, copy] of [...this.#copies]) {
      if (version.startsWith(start)) await this.#remove(version, copy)
    }
  }

  /**
   * Returns the copy of a version until it is disposed of. Without one, `make` writes it to a path
   * and resolves to its size; other callers that need it wait for that, and write it themselves if
   * it fails.
   */
  async use(version: string, make: (path: string) => Promise<number>): Promise<LocalFile> {
    const path = await this.newPath()
    for (;;) {
      const existingCopy = this.#copies.get(version)
      const copy = existingCopy ?? { path, size: 0, made: Promise.resolve(), users: 0 }
      copy.users++
      clearTimeout(copy.expiry)
      if (!existingCopy) {
        copy.made = make(path).then((size) => {
          copy.size = size
        })
      }
      this.#copies.delete(version)
      this.#copies.set(version, copy)
      try {
        await copy.made
        return { path: copy.path, [Symbol.asyncDispose]: () => this.#release(version, copy) }
      } catch (error) {
        if (this.#copies.get(version) === copy) this.#copies.delete(version)
        if (existingCopy) continue
        await rm(path, { force: true })
        throw error
      }
    }
  }

  /** Removes the folder with all copies. */
  async close(): Promise<void> {
    for (const { expiry } of this.#copies.values()) clearTimeout(expiry)
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #release(version: string, copy: LocalObjectCopy): Promise<void> {
    copy.users--
    if (copy.users === 0) {
      if (this.#copies.get(version) !== copy) return rm(copy.path, { force: true })
      this.#expire(version, copy)
    }
    await this.#shrink()
  }

  #expire(version: string, copy: LocalObjectCopy): void {
    clearTimeout(copy.expiry)
    copy.expiry = setTimeout(() => {
      // A file that cannot be removed now is removed with the folder.
      this.#remove(version, copy).catch(() => {})
    }, this.#keptMs).unref()
  }

  async #remove(version: string, copy: LocalObjectCopy): Promise<void> {
    if (this.#copies.get(version) === copy) this.#copies.delete(version)
    clearTimeout(copy.expiry)
    if (copy.users === 0) await rm(copy.path, { force: true })
  }

  async #shrink(): Promise<void> {
    let total = 0
    for (const { size } of this.#copies.values()) total += size
    for (const [version, copy] of [...this.#copies]) {
      if (total <= this.#maxBytes) return
      if (copy.users > 0 || this.#copies.get(version) !== copy) continue
      total -= copy.size
      await this.#remove(version, copy)
    }
  }
}

/** Removes the folders in `parent` of all processes except `nodeIds`. */
export async function removeOtherCopies(parent: string, nodeIds: readonly string[]): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!nodeIds.includes(name)) await rm(join(parent, name), { recursive: true, force: true })
  }
}
