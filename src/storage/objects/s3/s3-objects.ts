import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { wallNow } from '../../../clock.ts'
import type { ObjectStoreConfig } from '../../../config/storage/object-store.ts'
import { AppError } from '../../../errors.ts'
import { storageError, throwStorageError } from '../../data-folder/storage-error.ts'
import { limitSize } from '../limit-size.ts'
import {
  type ActiveNodes,
  LIST_SIZE,
  type ObjectStore,
  type WriteOptions,
} from '../object-store.ts'
import { LocalCopies, removeOtherCopies } from './local-copies.ts'
import { createS3, describeS3, type S3 } from './s3-client.ts'
import { s3Error, throwS3Error } from './s3-error.ts'
import { epochOf, findKeys, listObjectKeys, objectIdOf, s3KeyOf, withKey } from './s3-keys.ts'
import { openS3Orphans } from './s3-orphans.ts'
import { openRead } from './s3-read.ts'
import { refuseTransfer } from './s3-transfer-mark.ts'
import { type UploadResult, uploadObject } from './s3-upload.ts'

/** Options of `openS3Objects`. */
export type OpenS3Options = {
  settings: ObjectStoreConfig
  /** The folder of the local copies; each process has its own subfolder. */
  folder: string
  nodeId: string
  /**
   * Allows a bucket into which a data folder is being moved; by default such a bucket is refused.
   */
  isTransfer?: boolean
  signal?: AbortSignal | undefined
  /** Called once when the server cannot be reached and another attempt follows. */
  onWait?: ((reason: { store: string; error: string }) => void) | undefined
}

/** The greatest difference between the clocks of the storage and the database. */
const CLOCK_MARGIN_MS = 15 * 60_000
/** The longest time that an upload may take. */
const MAX_UPLOAD_MS = 24 * 3600_000
/** The time within which the server must answer a check of its availability. */
const CHECK_TIMEOUT_MS = 5000
/** The time for which the result of a check is reused. */
const CHECK_VALID_MS = 5000
/** The pause between two attempts to reach the server at startup. */
const RETRY_MS = 1000

/**
 * Opens objects in S3-compatible storage. Waits for a server that cannot be reached. Rejects with
 * an error that names bucket and server if the server stays unreachable or refuses access.
 */
export async function openS3Objects(options: OpenS3Options): Promise<ObjectStore> {
  const { settings, folder, nodeId } = options
  const s3 = await createS3(settings)
  try {
    await waitUntilAvailable(s3, options)
    if (!options.isTransfer) await refuseTransfer(s3)
  } catch (error) {
    s3.client.destroy()
    throw error
  }
  const copies = new LocalCopies(join(folder, nodeId), { maxBytes: settings.cacheBytes })
  return {
    ...writesOf(s3, copies),
    ...readsOf(s3, copies),
    orphans: openS3Orphans(s3),
    clockMarginMs: CLOCK_MARGIN_MS,
    list: () => listIds(s3, `${s3.prefix}objects/`),
    checkAvailable: createAvailabilityCheck(s3),
    async removeUnfinished(activeNodes) {
      await removeOtherCopies(folder, [...activeNodes.ids, nodeId])
      await abortOldUploads(s3, activeNodes)
    },
    async close() {
      s3.client.destroy()
      await copies.close()
    },
  }
}

type ObjectReads = Pick<ObjectStore, 'check' | 'read' | 'openLocalCopy'>

function readsOf(s3: S3, copies: LocalCopies): ObjectReads {
  const { client, commands, bucket } = s3
  const head = async (Key: string) => {
    const headResponse = await client.send(new commands.HeadObjectCommand({ Bucket: bucket, Key }))
    return { key: Key, ...headResponse }
  }
  return {
    async check(id) {
      const { ContentLength = 0, LastModified } = await withKey(s3, id, head)
      return { size: ContentLength, storedAt: LastModified?.getTime() ?? 0 }
    },
    read: (id, range) => withKey(s3, id, (key) => openRead(s3, key, range)),
    async openLocalCopy(id, { signal }) {
      const { key, ETag } = await withKey(s3, id, head)
      const download = async (path: string) => {
        const { size, body } = await openRead(s3, key, undefined)
        await pipeline(body, createWriteStream(path, { mode: 0o600 }), { signal })
        return size
      }
      try {
        return await copies.use(versionOf(key, ETag), download)
      } catch (error) {
        signal.throwIfAborted()
        throw s3Error(error)
      }
    },
  }
}

/**
 * Identifies a version of an object. With an empty `etag`, returns the common prefix of all
 * versions.
 */
function versionOf(key: string, etag: string | undefined): string {
  return `${key} ${etag}`
}

type ObjectWrites = Pick<ObjectStore, 'write' | 'adopt' | 'replace' | 'delete'>

function writesOf(s3: S3, copies: LocalCopies): ObjectWrites {
  const { client, commands, bucket } = s3
  const remove = async (Key: string) => {
    const request = { Bucket: bucket, Key }
    await client.send(new commands.DeleteObjectCommand(request)).catch(throwS3Error)
  }

  /** Stores the source, and removes the objects that attempts with lower epochs stored. */
  async function store(id: string, source: AsyncIterable<Uint8Array>, limits: WriteLimits) {
    const { epoch, signal } = limits
    const key = s3KeyOf(s3, id, epoch)
    const stored = await uploadObject(s3, source, { key, signal })
    if (epoch !== undefined) {
      const keys = await findKeys(s3, 'objects', id)
      for (const olderKey of keys.slice(0, -1)) {
        await remove(olderKey.key)
        await copies.remove(versionOf(olderKey.key, ''))
      }
    }
    return { ...stored, key }
  }

  return {
    async write(id, source, options) {
      const failed = new AbortController()
      const signal = AbortSignal.any([options.signal, failed.signal])
      const checked = limitSize(source, { ...options, signal })
      const limits = { epoch: options.epoch, signal }
      try {
        if (options.keepsLocalCopy) {
          return await storeAndKeep(copies, checked, (copied) => store(id, copied, limits))
        }
        const { size } = await store(id, checked, limits)
        return { size }
      } catch (error) {
        // Stops waiting for a source that has stalled.
        failed.abort(error)
        throw options.signal.aborted ? options.signal.reason : storageError(error)
      }
    },
    async adopt(id, file, { epoch } = {}) {
      const { signal } = new AbortController()
      await store(id, createReadStream(file), { epoch, signal }).catch(throwStorageError)
    },
    async replace(id, source, { signal }) {
      const limits = { maxBytes: Number.POSITIVE_INFINITY, signal }
      const head = async (Key: string) => {
        await client.send(new commands.HeadObjectCommand({ Bucket: bucket, Key }))
        return Key
      }
      const key = await withKey(s3, id, head)
      await uploadObject(s3, limitSize(source, limits), { key, signal }).catch(throwStorageError)
    },
    async delete(id, { epoch = Number.POSITIVE_INFINITY } = {}) {
      const keys = await findKeys(s3, 'objects', id)
      for (const { key } of keys) {
        if (epochOf(key) > epoch) continue
        await remove(key)
        await copies.remove(versionOf(key, ''))
      }
    },
  }
}

type WriteLimits = Pick<WriteOptions, 'epoch' | 'signal'>

/** Stores a source, and keeps a local copy of its bytes. */
async function storeAndKeep(
  copies: LocalCopies,
  source: AsyncIterable<Uint8Array>,
  store: (source: AsyncIterable<Uint8Array>) => Promise<UploadResult & { key: string }>,
): Promise<{ size: number }> {
  const path = await copies.newPath()
  const handle = await open(path, 'wx', 0o600)
  async function* copied(): AsyncGenerator<Uint8Array> {
    for await (const bytes of source) {
      await handle.appendFile(bytes)
      yield bytes
    }
  }
  try {
    const { key, etag, size } = await store(copied())
    await copies.keep(versionOf(key, etag), { path, size })
    return { size }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

/** Yields the ids of all objects whose keys begin with `start`, each id once. */
async function* listIds(s3: S3, start: string): AsyncGenerator<string[]> {
  let last: string | undefined
  for await (const page of listObjectKeys(s3, start)) {
    const ids: string[] = []
    for (const { key } of page) {
      const id = objectIdOf(key)
      if (id !== undefined && id !== last) ids.push(id)
      last = id
    }
    for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
  }
}

/** Aborts uploads that began before all active processes, or longer ago than an upload may take. */
async function abortOldUploads(
  { client, commands, bucket, prefix }: S3,
  { since }: Pick<ActiveNodes, 'since'>,
): Promise<void> {
  const before = Math.max(since - CLOCK_MARGIN_MS, wallNow() - MAX_UPLOAD_MS)
  const location = { Bucket: bucket, Prefix: `${prefix}objects/` }
  let from: { KeyMarker?: string; UploadIdMarker?: string } = {}
  for (;;) {
    const list = new commands.ListMultipartUploadsCommand({ ...location, ...from })
    const page = await client.send(list).catch(throwS3Error)
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Initiated || Initiated.getTime() >= before) continue
      const abort = { Bucket: bucket, Key, UploadId }
      // Another process may have aborted it.
      await client.send(new commands.AbortMultipartUploadCommand(abort)).catch(() => {})
    }
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page
    if (!IsTruncated || !NextKeyMarker) return
    from = {
      KeyMarker: NextKeyMarker,
      ...(NextUploadIdMarker && { UploadIdMarker: NextUploadIdMarker }),
    }
  }
}

async function checkBucket({ client, commands, bucket, prefix }: S3): Promise<void> {
  const list = new commands.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
  try {
    await client.send(list, { abortSignal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
  } catch (error) {
    const { name } = error as Error
    const isLate = name === 'TimeoutError' || name === 'AbortError'
    throw isLate ? noResponse(error) : s3Error(error)
  }
}

function noResponse(cause: unknown): AppError {
  return new AppError('object_store_unavailable', 'it does not respond', { cause, retryAfter: 5 })
}

/**
 * Creates a check of the server's availability. Concurrent calls share one check, and its result is
 * reused for `CHECK_VALID_MS`.
 */
function createAvailabilityCheck(s3: S3): () => Promise<void> {
  let response: Promise<void> | undefined
  return () => {
    response ??= checkBucket(s3).finally(() => {
      setTimeout(() => {
        response = undefined
      }, CHECK_VALID_MS).unref()
    })
    return response
  }
}

async function waitUntilAvailable(s3: S3, options: OpenS3Options): Promise<void> {
  const { settings, signal, onWait } = options
  const store = describeS3(settings)
  const until = performance.now() + settings.startSeconds * 1000
  for (let tries = 1; ; tries++) {
    try {
      return await checkBucket(s3)
    } catch (error) {
      const text = error instanceof Error ? error.message.replace(/^[^:]*: /, '') : String(error)
      const isFinal = /bucket does not exist|refuses the credentials|no credentials/.test(text)
      if (isFinal || performance.now() >= until) {
        throw new Error(`Cannot use the object store ${store}: ${text} (STENO_OBJECT_STORE)`, {
          cause: error,
        })
      }
      if (tries === 1) onWait?.({ store, error: text })
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}

/**
 * Stores, reads and deletes a small object; returns the bucket and the server, without credentials.
 */
export async function examineS3(settings: ObjectStoreConfig): Promise<string> {
  const s3 = await createS3(settings)
  try {
    await waitUntilAvailable(s3, {
      settings: { ...settings, startSeconds: 0 },
      folder: '',
      nodeId: '',
    })
    const { client, commands, bucket, prefix, encryption } = s3
    const location = { Bucket: bucket, Key: `${prefix}check` }
    await client.send(new commands.PutObjectCommand({ ...location, Body: 'steno', ...encryption }))
    await client.send(new commands.GetObjectCommand(location))
    await client.send(new commands.DeleteObjectCommand(location))
    return describeS3(settings)
  } catch (error) {
    const objectError = s3Error(error)
    if (objectError === error) throw error
    throw new Error(`object store ${describeS3(settings)}: ${(objectError as Error).message}`)
  } finally {
    s3.client.destroy()
  }
}
