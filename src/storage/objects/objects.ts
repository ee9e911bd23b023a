import type { Readable } from 'node:stream'

/** The limit of one write, and what stops it. */
export type WriteOptions = {
  maxBytes: number
  signal: AbortSignal
  /** Called before this many bytes are written; if it fails, so does the write. */
  admit?: ((bytes: number) => Promise<void>) | undefined
}

/** A file on this machine; disposing of it ends its use. */
export type LocalFile = { readonly path: string } & AsyncDisposable

/**
 * Large values by id: recordings and long results. An object exists as a whole or not at all, on
 * disk or anywhere else. `test/support/objects-conformance.ts` tests every implementation.
 */
export type Objects = {
  /**
   * Stores the stream under `id`, replacing any previous object; fails with `media_too_large`
   * beyond `maxBytes`.
   */
  write(
    id: string,
    source: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<{ size: number }>
  /**
   * Stores a local file under `id` too, replacing any previous object. The bytes of the file must
   * be on disk and must not change any more; removing the file does not change the object.
   */
  adopt(id: string, file: string): Promise<void>
  /**
   * Returns a local file with the bytes of an object, for programs that need a path. It must not
   * be changed, and is valid until it is disposed of.
   */
  materialize(id: string, options: { signal: AbortSignal }): Promise<LocalFile>
  /**
   * Returns the size in bytes, and when the object was stored, in milliseconds since 1970. Fails
   * with `file_not_found` or `storage_unreadable` unless the object can be read.
   */
  check(id: string): Promise<{ size: number; storedAt: number }>
  /**
   * Opens an object, which then stays readable even if it is deleted. `size` is that of the whole
   * object. Both ends of `range` are inclusive, as in the HTTP header. The caller must read `body`
   * to its end or destroy it.
   */
  read(
    id: string,
    range?: { start: number; end: number },
  ): Promise<{ size: number; body: Readable }>
  /** Deletes an object; a missing one is not an error. */
  delete(id: string): Promise<void>
  /** Removes what writes left unfinished, except those of the given owners, who are alive. */
  removeUnfinished(options: { owners: readonly string[] }): Promise<void>
  /** Yields every stored id, `LIST_SIZE` at a time. */
  list(): AsyncGenerator<string[]>
}

/** The number of ids that fit into one statement of any database. */
export const LIST_SIZE = 500

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns whether a name is that of an object. */
export function isObjectId(name: string): boolean {
  return UUID.test(name)
}
