import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { S3 } from './s3-client.ts'
import { s3Error, throwS3Error } from './s3-error.ts'

/** How many times an interrupted response is continued without receiving a byte in between. */
const MAX_TRIES = 5
/** The pause before the first continuation; doubled for each further one. */
const PAUSE_MS = 200

/** A range of bytes; both ends are inclusive. */
export type ReadRange = { start: number; end: number } | undefined

/** An object that is being read; `size` is that of the whole. */
export type OpenRead = { size: number; body: Readable }

/**
 * Begins to read an object. When the connection breaks, the rest of the same version of the object
 * is requested. Errors before the first byte are those of the client.
 */
export async function openRead(s3: S3, key: string, range: ReadRange): Promise<OpenRead> {
  const first = await requestObject(s3, { key, range })
  const start = range?.start ?? 0
  const end = Math.min(range?.end ?? first.size - 1, first.size - 1)
  let current = first.body

  async function* bytes(): AsyncGenerator<Uint8Array> {
    let at = start
    for (let tries = 0; ; ) {
      try {
        for await (const chunk of current) {
          yield chunk
          at += chunk.byteLength
          tries = 0
        }
        if (at > end) return
        throw new Error('the answer ended too early')
      } catch (error) {
        if (body.destroyed || ++tries > MAX_TRIES) throw s3Error(error)
      }
      await delay(PAUSE_MS * 2 ** (tries - 1))
      const nextRange = { key, range: { start: at, end }, etag: first.etag }
      current = (await requestObject(s3, nextRange).catch(throwS3Error)).body
      if (body.destroyed) current.destroy()
    }
  }

  const body = Readable.from(bytes(), { objectMode: false })
  // The generator may wait for bytes that never come.
  body.once('close', () => current.destroy())
  return { size: first.size, body }
}

type GetObjectResult = { size: number; etag: string | undefined; body: Readable }

async function requestObject(
  { client, commands, bucket }: S3,
  { key, range, etag }: { key: string; range: ReadRange; etag?: string | undefined },
): Promise<GetObjectResult> {
  const get = new commands.GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(range && { Range: `bytes=${range.start}-${range.end}` }),
    ...(etag && { IfMatch: etag }),
  })
  const { Body, ContentLength = 0, ContentRange, ETag } = await client.send(get)
  const [, totalSize] = /\/(\d+)$/.exec(ContentRange ?? '') ?? []
  return { size: Number(totalSize ?? ContentLength), etag: ETag, body: Body as Readable }
}
