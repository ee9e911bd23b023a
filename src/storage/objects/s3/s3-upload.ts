import { setTimeout as sleep } from 'node:timers/promises'
import type { CompletedPart, CompleteMultipartUploadCommandInput } from '@aws-sdk/client-s3'
import type { S3 } from './s3-client.ts'
import { s3Code, throwS3Error } from './s3-error.ts'

/**
 * What a request carries. S3 takes at least 5 MiB, and at most 10,000 parts, so later parts are
 * larger: an object may have 300 GB.
 */
const PART_BYTES = 5 * 1024 * 1024
const LARGER_AFTER = 1000
const LARGER_BYTES = 32 * 1024 * 1024
/** How long parts may take that are still on their way; each time twice as long. */
const FIRST_PAUSE_MS = 50
const LAST_PAUSE_MS = 2000

/** An upload to one key, and what stops it. */
export type UploadTarget = { key: string; signal: AbortSignal }

/** What was stored; the `etag` distinguishes versions under one key. */
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
  const parts = inParts(source)
  try {
    const first = await parts.next()
    const body = first.done ? Buffer.alloc(0) : first.value
    if (body.length < PART_BYTES) {
      return await putObject(s3, body, target)
    }
    return await uploadParts(s3, { first: body, rest: parts }, target)
  } finally {
    // Ends the source too; one that stands still must not hold up the caller.
    parts.return(undefined).catch(() => {})
  }
}

async function* inParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, undefined> {
  let chunks: Uint8Array[] = []
  let length = 0
  let made = 0
  for await (const chunk of source) {
    // The source may use the memory of a chunk again.
    chunks.push(Buffer.from(chunk))
    length += chunk.byteLength
    if (length < (made < LARGER_AFTER ? PART_BYTES : LARGER_BYTES)) continue
    yield Buffer.concat(chunks)
    chunks = []
    length = 0
    made++
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
  // Never aborted: what a lost answer began could not be ended here.
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
 * Ends an upload with its parts. A part that was on its way may arrive after the end and bring the
 * upload back, so it is ended until the storage does not know it any more. What remains because the
 * storage cannot be reached is ended later, by `removeUnfinished`.
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
 * The answer to a request that was carried out may be lost; then its repetition finds no upload.
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
