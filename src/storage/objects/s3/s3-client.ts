import type { S3Client } from '@aws-sdk/client-s3'
import type { ObjectStoreConfig } from '../../../config/storage/object-store.ts'
import { withTimeout } from './with-timeout.ts'

/** A connected client, and the values that every request repeats. */
export type S3 = {
  client: S3Client
  /** The commands, which are loaded with the client. */
  commands: typeof import('@aws-sdk/client-s3')
  bucket: string
  /** Precedes every key; empty, or with a slash at its end. */
  prefix: string
  /** The parameters of requests that create an object. */
  encryption: { ServerSideEncryption?: 'AES256' | 'aws:kms'; SSEKMSKeyId?: string }
}

/** Times that each request is sent; with the pauses between, which double, about 6 s. */
const MAX_TRIES = 8
const CONNECT_MS = 5000
/** No answer has begun after this. A part of an upload must pass in this time. */
const ANSWER_MS = 60_000
/** Nothing was sent or received for this long. */
const IDLE_MS = 30_000
const MAX_SOCKETS = 64
/**
 * A request that moves little takes no longer, all its tries together: a server that takes
 * connections and never responds delays no one for long.
 */
const SHORT_REQUEST_MS = 20_000
const SHORT_REQUESTS: ReadonlySet<string> = new Set([
  ...['HeadObjectCommand', 'GetObjectCommand', 'DeleteObjectCommand', 'ListObjectsV2Command'],
  ...['ListPartsCommand', 'ListMultipartUploadsCommand'],
])

/**
 * Creates a client with the credentials of the usual places: environment, shared file, web identity
 * or container. Those of the machine (EC2) are asked for only if `AWS_EC2_METADATA_DISABLED` is
 * `false`: elsewhere that address belongs to nobody.
 */
export async function createS3(
  settings: ObjectStoreConfig,
  { shortRequestMs = SHORT_REQUEST_MS } = {},
): Promise<S3> {
  process.env.AWS_EC2_METADATA_DISABLED ??= 'true'
  // Loaded here: without this setting a start does not read the library.
  const commands = await import('@aws-sdk/client-s3')
  const { endpoint, region, pathStyle, bucket, prefix, encryption, kmsKey } = settings
  const client = new commands.S3Client({
    region,
    ...(endpoint && { endpoint }),
    forcePathStyle: pathStyle,
    maxAttempts: MAX_TRIES,
    // Servers other than AWS know only the older checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_MS,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
    },
  })
  const { middlewareStack } = client
  middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        SHORT_REQUESTS.has(commandName) ? withTimeout(next(args), shortRequestMs) : next(args),
    { step: 'initialize', name: 'inTime' },
  )
  return {
    ...{ client, commands, bucket },
    prefix: prefix === '' ? '' : `${prefix}/`,
    encryption: {
      ...(encryption && { ServerSideEncryption: encryption }),
      ...(kmsKey && { SSEKMSKeyId: kmsKey }),
    },
  }
}

/** Returns what may be shown of the place: bucket and server. */
export function describeS3({ bucket, prefix, endpoint }: ObjectStoreConfig): string {
  const place = `s3://${bucket}${prefix && `/${prefix}`}`
  return endpoint ? `${place} at ${new URL(endpoint).host}` : place
}
