import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'

/**
 * A partial download: the received bytes, in a separate file and in a hash. Opening it hashes the
 * bytes of an earlier process.
 */
export class PartialFile {
  readonly #path: string
  readonly #file: FileHandle
  #hash: Hash
  /** Bytes on disk, all of them in the hash. */
  size = 0

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
    this.#hash = createHash('sha256')
  }

  /** Opens the part of a file of `bytes` bytes; a part that is larger is emptied. */
  static async open(
    path: string,
    { bytes, signal }: { bytes: number; signal: AbortSignal },
  ): Promise<PartialFile> {
    const fileStat = await stat(path).catch(() => undefined)
    const part = new PartialFile(path, await open(path, fileStat ? 'r+' : 'w+'))
    try {
      if (!fileStat) return part
      if (fileStat.size > bytes) await part.restart()
      else await part.#hashExisting(signal)
      return part
    } catch (error) {
      await part.close()
      throw error
    }
  }

  async #hashExisting(signal: AbortSignal): Promise<void> {
    for await (const chunk of createReadStream(this.#path, { signal })) {
      this.#hash.update(chunk)
      this.size += chunk.length
    }
  }

  async append(chunk: Uint8Array): Promise<void> {
    // A disk that gets full takes a part of a chunk, and reports an error at the next write only.
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await this.#file.write(chunk, at, chunk.length - at, this.size + at)
      at += bytesWritten
    }
    this.#hash.update(chunk)
    this.size += chunk.length
  }

  /** Drops all received bytes. */
  async restart(): Promise<void> {
    await this.#file.truncate(0)
    this.#hash = createHash('sha256')
    this.size = 0
  }

  /** Returns the SHA-256 of all bytes, in hex. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Gives the file its final name, once every byte is on disk. */
  async finish(path: string): Promise<void> {
    await this.#file.sync()
    await this.#file.close()
    await rename(this.#path, path)
  }

  /** Keeps the received bytes for the next process; removes an empty part. */
  async close(): Promise<void> {
    await this.#file.close()
    if (this.size === 0) await rm(this.#path, { force: true })
  }
}
