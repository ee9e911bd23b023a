import { AppError } from '../../../errors.ts'
import { isObjectId, LIST_SIZE } from '../object-store.ts'
import type { S3 } from './s3-client.ts'
import { isMissingObject, throwS3Error } from './s3-error.ts'

/**
 * The largest epoch has this many digits; shorter ones are padded, so that keys sort like numbers.
 */
const EPOCH_DIGITS = 10
const UUID_LENGTH = 36

/**
 * The folder of objects that rows refer to, and that of orphans. The key of an object is `ab/ID`
 * or, if it was written under a lease, `ab/ID.EPOCH`: a process that has lost the lease can still
 * write, but cannot replace the object of the next one. The highest epoch counts.
 */
export type KeyFolder = 'objects' | 'orphans'

/**
 * Returns the beginning of the keys of an object; throws `file_not_found` if `id` is not a UUID.
 */
export function keyStem({ prefix }: Pick<S3, 'prefix'>, folder: KeyFolder, id: string): string {
  if (!isObjectId(id)) throw new AppError('file_not_found', 'the id is not a UUID')
  return `${prefix}${folder}/${id.slice(0, 2)}/${id}`
}

/** Returns the key under which an object is written. */
export function s3KeyOf(s3: Pick<S3, 'prefix'>, id: string, epoch: number | undefined): string {
  const stem = keyStem(s3, 'objects', id)
  return epoch === undefined ? stem : `${stem}.${String(epoch).padStart(EPOCH_DIGITS, '0')}`
}

/** Returns the epoch of a key; 0 if it has none. */
export function epochOf(key: string): number {
  const name = key.slice(key.lastIndexOf('/') + 1)
  return Number(name.slice(UUID_LENGTH + 1) || 0)
}

/** Returns the id of the object of a key; undefined if the key is not that of an object. */
export function objectIdOf(key: string): string | undefined {
  const name = key.slice(key.lastIndexOf('/') + 1)
  const id = name.slice(0, UUID_LENGTH)
  return isObjectId(id) && /^(\.\d+)?$/.test(name.slice(UUID_LENGTH)) ? id : undefined
}

/** An object as lists show it. */
export type ListedObject = { key: string; size: number; storedAt: number }

/**
 * Yields the objects whose keys begin with `start`, in the order of the keys, a thousand at a time.
 */
export async function* listObjectKeys(
  { client, commands, bucket }: S3,
  start: string,
): AsyncGenerator<ListedObject[]> {
  let token: string | undefined
  do {
    const command = new commands.ListObjectsV2Command({
      Bucket: bucket,
      Prefix: start,
      MaxKeys: 2 * LIST_SIZE,
      ...(token && { ContinuationToken: token }),
    })
    const { Contents = [], NextContinuationToken } = await client.send(command).catch(throwS3Error)
    yield Contents.flatMap(({ Key: key, Size, LastModified }) => {
      return key ? [{ key, size: Size ?? 0, storedAt: LastModified?.getTime() ?? 0 }] : []
    })
    if (token && NextContinuationToken === token) {
      throw new AppError('object_store_unavailable', 'its list of objects does not advance')
    }
    token = NextContinuationToken
  } while (token)
}

/** Returns all keys of one object; the one that counts is last. */
export async function findKeys(s3: S3, folder: KeyFolder, id: string): Promise<ListedObject[]> {
  const matchingKeys = await Array.fromAsync(listObjectKeys(s3, keyStem(s3, folder, id)))
  return matchingKeys.flat().filter(({ key }) => objectIdOf(key) === id)
}

/**
 * Runs a request with the key of an object. Nearly all objects have no epoch, so the keys with
 * epochs are listed only if there is no object under the plain key. Fails with `file_not_found` if
 * there is none at all.
 */
export async function withKey<T>(
  s3: S3,
  id: string,
  request: (key: string) => Promise<T>,
): Promise<T> {
  const plain = s3KeyOf(s3, id, undefined)
  try {
    return await request(plain)
  } catch (error) {
    if (!isMissingObject(error)) return throwS3Error(error)
  }
  // Also distinguishes a missing bucket from a missing object.
  const newest = (await findKeys(s3, 'objects', id)).at(-1)
  if (!newest) throw new AppError('file_not_found')
  return request(newest.key).catch(throwS3Error)
}
