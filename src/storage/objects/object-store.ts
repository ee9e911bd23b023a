import type { Readable } from 'node:stream'

/** The limits of one write, and the signal that stops it. */
export type WriteOptions = {
  maxBytes: number
  signal: AbortSignal
  /** Called before this many bytes are written; if it fails, so does the write. */
  reserve?: ((bytes: number) => Promise<void>) | undefined
  /** The epoch of the lease of this write, if several attempts write the same id. */
  epoch?: number | undefined
  /** Whether the caller will need the object as a local file next. */
  keepsLocalCopy?: boolean
}

/** A local file that may be deleted when it is disposed of. */
export type LocalFile = { readonly path: string } & AsyncDisposable

/**
 * A store of large values by id: recordings and long results. An object exists completely or not at
 * all. `test/support/storage/objects/objects-conformance.ts` tests every implementation.
 */
export type ObjectStore = {
  /**
   * Stores the stream under `id`, replacing any previous object; fails with `media_too_large`
   * beyond `maxBytes`. Where processes on several machines write, an object of a lower epoch
   * replaces none of a higher one.
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
  adopt(id: string, file: string, options?: Pick<WriteOptions, 'epoch'>): Promise<void>
  /** Stores other bytes for an object that exists, whichever epoch it was written under. */
  replace(
    id: string,
    source: AsyncIterable<Uint8Array>,
    options: { signal: AbortSignal },
  ): Promise<void>
  /**
   * Returns a local file with the bytes of an object, for programs that need a path. It must not
   * be changed, and is valid until it is disposed of.
   */
  openLocalCopy(id: string, options: { signal: AbortSignal }): Promise<LocalFile>
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
  /**
   * Deletes an object, unless its epoch is higher than the given one. A missing object is not an
   * error.
   */
  delete(id: string, options?: Pick<WriteOptions, 'epoch'>): Promise<void>
  /** Removes the remains of writes that dead nodes did not finish. */
  removeUnfinished(options: ActiveNodes): Promise<void>
  /** Yields every stored id, at most `LIST_SIZE` at a time. */
  list(): AsyncGenerator<string[]>
  /**
   * Fails with `object_store_unavailable` if the store does not respond; absent if it is always
   * available.
   */
  checkAvailable?(): Promise<void>
  /**
   * The greatest difference from the clock of the database, in milliseconds; absent if both have
   * the same clock, and listing objects is fast.
   */
  readonly clockMarginMs?: number
  /** The orphans, if the store keeps them itself; absent if a local folder does. */
  readonly orphans?: OrphanObjects
  close?(): Promise<void>
}

/** The active nodes of the database: their ids, and when the first of them started. */
export type ActiveNodes = { ids: readonly string[]; since: number }

/** Objects that no row refers to, which a store keeps apart from the others. */
export type OrphanObjects = {
  /**
   * Moves an object to the orphans, where its retention starts. A missing object is not an error.
   */
  add(id: string, options: { signal: AbortSignal }): Promise<void>
  /** Moves an orphan back, unless there is an object with this id again. */
  restore(id: string): Promise<void>
  /** Yields all ids, at most `LIST_SIZE` at a time. */
  list(): AsyncGenerator<string[]>
  /** Deletes orphans that were added before a given time; returns how many. */
  deleteBefore(moment: number, options: { signal: AbortSignal }): Promise<number>
}

/** The number of ids that fit into one statement of any database. */
export const LIST_SIZE = 500

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns whether a name can be the id of an object. */
export function isObjectId(name: string): boolean {
  return UUID.test(name)
}
