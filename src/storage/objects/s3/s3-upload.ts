import { setTimeout as sleep } from 'node:timers/promises'
import type { CompletedPart, CompleteMultipartUploadCommandInput } from '@aws-sdk/client-s3'
import type { S3 } from './s3-client.ts'
import { s3Code, throwS3Error } from './s3-error.ts'

/**
 * The sizes of parts. S3 takes parts of at least 5 MiB, and at most 10,000 of them, so later parts
 * are larger: an object may have 300 GB.
 */
const PART_BYTES = 5 * 1024 * 1024
const LARGE_PARTS_FROM = 1000
const LARGE_PART_BYTES = 32 * 1024 * 1024
/**
 * The pauses before the storage is asked again whether an aborted upload is gone; each is twice as
 * long as the one before.
 */
const FIRST_PAUSE_MS = 50
const LAST_PAUSE_MS = 2000

/** The key of an upload, and the signal that stops it. */
export type UploadTarget = { key: string; signal: AbortSignal }

/** The stored object; the `etag` distinguishes versions under one key. */
export type UploadResult = { size: number; etag: string | undefined }

/**
 * Stores a stream of unknown length under a key: all of it, or nothing. At most two parts are in
 * memory, one that is filled and one that is sent.
 */
export async function uploadObject(
  s3: S3,
  source: AsyncIterable<Uint8Array>,
  target: UploadTarget,
): Promise<UploadResult> {
  const parts = splitParts(source)
  try {
    const first = await parts.next()
    const body = first.done ? Buffer.alloc(0) : first.value
    if (body.length < PART_BYTES) {
      return await putObject(s3, body, target)
    }
    return await uploadParts(s3, { first: body, rest: parts }, target)
  } finally {
    // This ends the source, too. A stalled source must not delay the caller.
    parts.return(undefined).catch(() => {})
  }
}

async function* splitParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, undefined> {
  let chunks: Uint8Array[] = []
  let length = 0
  let partCount = 0
  for await (const chunk of source) {
    // The source may reuse the memory of a chunk.
    chunks.push(Buffer.from(chunk))
    length += chunk.byteLength
    if (length < (partCount < LARGE_PARTS_FROM ? PART_BYTES : LARGE_PART_BYTES)) continue
    yield Buffer.concat(chunks)
    chunks = []
    length = 0
    partCount++
  }
  if (length > 0) yield Buffer.concat(chunks)
}

async function putObject(
  { client, commands, bucket, encryption }: S3,
  body: Buffer,
  { key, signal }: UploadTarget,
): Promise<UploadResult> {
  const request = { Bucket: bucket, Key: key, Body: body, ...encryption }
  const put = new commands.PutObjectCommand(request)
  const { ETag } = await client.send(put, { abortSignal: signal }).catch(throwS3Error)
  return { size: body.length, etag: ETag }
}

async function uploadParts(
  s3: S3,
  { first, rest }: { first: Buffer; rest: AsyncIterator<Buffer, undefined> },
  { key, signal }: UploadTarget,
): Promise<UploadResult> {
  const { client, commands, bucket, encryption } = s3
  const place = { Bucket: bucket, Key: key }
  const create = new commands.CreateMultipartUploadCommand({ ...place, ...encryption })
  // This request is never aborted: if it began an upload and its response were lost, that upload
  // could not be aborted here.
  const { UploadId } = await client.send(create).catch(throwS3Error)
  const upload = { ...place, UploadId }
  const done: CompletedPart[] = []
  let size = 0
  const ended = new AbortController()
  const abortSignal = AbortSignal.any([signal, ended.signal])
  let sending = Promise.resolve()
  async function send(body: Buffer): Promise<void> {
    const PartNumber = done.length + 1
    const part = new commands.UploadPartCommand({ ...upload, PartNumber, Body: body })
    const { ETag } = await client.send(part, { abortSignal }).catch(throwS3Error)
    done.push({ PartNumber, ETag })
    size += body.length
  }
  try {
    signal.throwIfAborted()
    for (let body: Buffer | undefined = first; body; ) {
      const following: Promise<IteratorResult<Buffer, undefined>> = rest.next()
      sending = send(body)
      await Promise.all([following, sending])
      body = (await following).value
    }
    signal.throwIfAborted()
    return await completeUpload(s3, { ...upload, MultipartUpload: { Parts: done } }, size)
  } catch (error) {
    ended.abort(error)
    await sending.catch(() => {})
    await abortUpload(s3, upload)
    throw error
  }
}

/**
 * Aborts an upload and deletes its parts. A part that is still being sent may arrive after the
 * abort and bring the upload back, so the abort is repeated until the storage does not know the
 * upload any more. If the storage cannot be reached, `removeUnfinished` aborts the upload later.
 */
async function abortUpload(
  { client, commands }: S3,
  upload: { Bucket: string; Key: string; UploadId: string | undefined },
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; pause <= LAST_PAUSE_MS; pause *= 2) {
    await client.send(new commands.AbortMultipartUploadCommand(upload)).catch(() => {})
    await sleep(pause)
    const parts = client.send(new commands.ListPartsCommand({ ...upload, MaxParts: 1 }))
    const isGone = await parts.then(
      () => false,
      () => true,
    )
    if (isGone) return
  }
}

/**
 * Completes an upload. The response to a completed request may be lost; its repetition then finds
 * no upload.
 */
async function completeUpload(
  { client, commands, bucket }: S3,
  request: CompleteMultipartUploadCommandInput,
  size: number,
): Promise<UploadResult> {
  try {
    const { ETag } = await client.send(new commands.CompleteMultipartUploadCommand(request))
    return { size, etag: ETag }
  } catch (error) {
    if (s3Code(error) !== 'NoSuchUpload') return throwS3Error(error)
    const head = new commands.HeadObjectCommand({ Bucket: bucket, Key: request.Key })
    const { ContentLength, ETag } = await client.send(head).catch(throwS3Error)
    if (ContentLength !== size) return throwS3Error(error)
    return { size, etag: ETag }
  }
}
