import { LIST_SIZE, type OrphanObjects } from '../object-store.ts'
import type { S3 } from './s3-client.ts'
import { isMissingObject, throwS3Error } from './s3-error.ts'
import { findKeys, keyStem, listObjectKeys, objectIdOf } from './s3-keys.ts'

/** Maximum bytes that a server copies in one request (5 GB). */
const MAX_COPY_BYTES = 5 * 1024 ** 3

/**
 * Keeps orphans below `orphans/`, beside the objects. The server copies them, so their bytes are
 * not downloaded.
 */
export function openS3Orphans(s3: S3): OrphanObjects {
  const { client, commands, bucket, prefix } = s3
  const start = `${prefix}orphans/`

  async function remove(Key: string): Promise<void> {
    await client.send(new commands.DeleteObjectCommand({ Bucket: bucket, Key })).catch(throwS3Error)
  }

  return {
    async add(id) {
      const keys = await findKeys(s3, 'objects', id)
      const newest = keys.at(-1)
      if (!newest) return
      await copy(s3, newest, keyStem(s3, 'orphans', id))
      for (const { key } of keys) await remove(key)
    },
    async restore(id) {
      const [orphan] = await findKeys(s3, 'orphans', id)
      if (!orphan) return
      const exists = (await findKeys(s3, 'objects', id)).length > 0
      if (exists) return
      await copy(s3, orphan, keyStem(s3, 'objects', id))
      await remove(orphan.key)
    },
    async *list() {
      for await (const page of listObjectKeys(s3, start)) {
        const ids = page.flatMap(({ key }) => objectIdOf(key) ?? [])
        for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
      }
    },
    async deleteBefore(moment, { signal }) {
      let deleted = 0
      for await (const page of listObjectKeys(s3, start)) {
        for (const { key, storedAt } of page) {
          if (signal.aborted) return deleted
          if (storedAt >= moment || objectIdOf(key) === undefined) continue
          await remove(key)
          deleted++
        }
      }
      return deleted
    },
  }
}

/**
 * Copies an object within the bucket. It is no error if the object no longer exists, because
 * another process has moved it.
 */
async function copy(
  s3: S3,
  { key, size }: { key: string; size: number },
  to: string,
): Promise<void> {
  const { client, commands, bucket, encryption } = s3
  const source = { CopySource: `${bucket}/${encodeURI(key)}` }
  const place = { Bucket: bucket, Key: to }
  try {
    if (size <= MAX_COPY_BYTES) {
      await client.send(new commands.CopyObjectCommand({ ...place, ...source, ...encryption }))
    } else {
      await copyParts(s3, { place, source, size })
    }
  } catch (error) {
    if (!isMissingObject(error)) throwS3Error(error)
  }
}

type PartCopy = {
  place: { Bucket: string; Key: string }
  source: { CopySource: string }
  size: number
}

async function copyParts(s3: S3, { place, source, size }: PartCopy): Promise<void> {
  const { client, commands, encryption } = s3
  const create = new commands.CreateMultipartUploadCommand({ ...place, ...encryption })
  const upload = { ...place, UploadId: (await client.send(create)).UploadId }
  const Parts: { PartNumber: number; ETag: string | undefined }[] = []
  for (let at = 0; at < size; at += MAX_COPY_BYTES) {
    const PartNumber = Parts.length + 1
    const range = `bytes=${at}-${Math.min(at + MAX_COPY_BYTES, size) - 1}`
    const request = { ...upload, ...source, PartNumber, CopySourceRange: range }
    const { CopyPartResult } = await client.send(new commands.UploadPartCopyCommand(request))
    Parts.push({ PartNumber, ETag: CopyPartResult?.ETag })
  }
  const done = { ...upload, MultipartUpload: { Parts } }
  await client.send(new commands.CompleteMultipartUploadCommand(done))
}
