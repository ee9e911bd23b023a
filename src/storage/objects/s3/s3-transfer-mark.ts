import type { ObjectStoreConfig } from '../../../config/storage/object-store.ts'
import { createS3, type S3 } from './s3-client.ts'
import { isMissingObject, throwS3Error } from './s3-error.ts'

/**
 * The data folder that is being moved into the bucket, and whether everything was copied and
 * compared.
 */
export type TransferState = { source: string; isCompared: boolean }

/**
 * The small object in the bucket that holds the state of a transfer until the transfer has ended.
 */
export type TransferMark = {
  read(): Promise<TransferState | undefined>
  write(transfer: TransferState): Promise<void>
  remove(): Promise<void>
  close(): void
}

function markLocation({ bucket, prefix }: S3): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: `${prefix}move.json` }
}

/** Opens the mark in a bucket. */
export async function openTransferMark(settings: ObjectStoreConfig): Promise<TransferMark> {
  const s3 = await createS3(settings)
  const { client, commands, encryption } = s3
  const location = markLocation(s3)
  return {
    async read() {
      try {
        const { Body } = await client.send(new commands.GetObjectCommand(location))
        return JSON.parse(await Body!.transformToString()) as TransferState
      } catch (error) {
        if (isMissingObject(error)) return undefined
        return throwS3Error(error)
      }
    },
    async write(transfer) {
      const put = { ...location, ...encryption, Body: JSON.stringify(transfer) }
      await client.send(new commands.PutObjectCommand(put)).catch(throwS3Error)
    },
    async remove() {
      await client.send(new commands.DeleteObjectCommand(location)).catch(throwS3Error)
    },
    close: () => client.destroy(),
  }
}

/** Throws while a data folder is being moved into the bucket. */
export async function refuseTransfer(s3: S3): Promise<void> {
  const { client, commands } = s3
  try {
    await client.send(new commands.HeadObjectCommand(markLocation(s3)))
  } catch (error) {
    if (isMissingObject(error)) return
    throwS3Error(error)
  }
  throw new Error(
    "Cannot use the object store: a data folder is being moved into it; 'steno store migrate' finishes that",
  )
}
