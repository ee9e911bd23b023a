import type { Db } from '../database/db.ts'
import type { JobRow } from '../database/tables.ts'
import { resultLocation } from '../jobs/results.ts'
import type { Delivery } from './deliveries.ts'

/** The exact bytes of a delivery: the same every time they are read. */
export type DeliveryBody = {
  bytes: number
  /** Yields the body from the start, in chunks; a long body is never in memory as a whole. */
  chunks(): AsyncGenerator<Uint8Array>
}

/**
 * Returns the body of a delivery; undefined if the delivery was deleted, or the job that the body
 * is built from. The body of a callback of recorded audio is the stored result of the job.
 */
export async function openDeliveryBody(
  db: Db,
  { jobId, event, body, bodyObject }: Pick<Delivery, 'jobId' | 'event' | 'body' | 'bodyObject'>,
): Promise<DeliveryBody | undefined> {
  if (body !== null) return textBody(body)
  if (bodyObject !== null) return objectBody(db, { object: bodyObject })
  return resultBody(db, { jobId, event })
}

/**
 * Builds the body from the job. `missing` is the object that an earlier read did not find. If the
 * row refers to another object now, that object exists.
 */
async function resultBody(
  db: Db,
  { jobId, event, missing }: Pick<Delivery, 'jobId' | 'event'> & { missing?: string },
): Promise<DeliveryBody | undefined> {
  const job = await db.sql
    .selectFrom('jobs')
    .select(bodyColumns)
    .where('id', '=', jobId)
    .executeTakeFirst()
  if (!job) return undefined
  const head = JSON.stringify({ id: jobId, event }).slice(0, -1)
  const tail = job.custom_metadata === null ? '}' : `,"custom_metadata":${job.custom_metadata}}`
  const result = resultLocation(job)
  if (!result) return textBody(`${head},"error":${JSON.stringify(errorOf(job))}${tail}`)
  if ('text' in result) return textBody(`${head},"payload":${result.text}${tail}`)
  const { object } = result
  const opened = await objectBody(db, { head: `${head},"payload":`, object, tail })
  if (opened || object === missing) return opened
  return resultBody(db, { jobId, event, missing: object })
}

const bodyColumns = [
  'custom_metadata',
  'error_code',
  'post_session_metadata',
  'result',
  'result_object',
] as const satisfies (keyof JobRow)[]

type BodyColumns = Pick<JobRow, (typeof bodyColumns)[number]>

function errorOf({ error_code, post_session_metadata }: BodyColumns) {
  const { failure } = JSON.parse(post_session_metadata) as { failure?: { message?: string } }
  return { code: error_code, message: failure?.message ?? 'The job failed' }
}

function textBody(text: string): DeliveryBody {
  const bytes = Buffer.from(text)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  return { bytes: bytes.length, chunks }
}

type ObjectBody = { head?: string; object: string; tail?: string }

async function objectBody(
  db: Db,
  { head = '', object, tail = '' }: ObjectBody,
): Promise<DeliveryBody | undefined> {
  const objectInfo = await db.objects.check(object).catch((error) => {
    if (error.code === 'file_not_found') return undefined
    throw error
  })
  if (!objectInfo) return undefined
  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (head) yield Buffer.from(head)
    const { body } = await db.objects.read(object)
    try {
      yield* body
    } finally {
      body.destroy()
    }
    if (tail) yield Buffer.from(tail)
  }
  return { bytes: Buffer.byteLength(head) + objectInfo.size + Buffer.byteLength(tail), chunks }
}
