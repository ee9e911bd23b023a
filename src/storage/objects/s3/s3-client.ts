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

/** How many times a request is sent. The pauses in between, which double, take about 6 s in all. */
const MAX_TRIES = 8
const CONNECT_MS = 5000
/** The time within which a response must begin. A part of an upload must be sent in this time. */
const RESPONSE_MS = 60_000
/** The time after which a connection is closed if nothing was sent or received. */
const IDLE_MS = 30_000
const MAX_SOCKETS = 64
/**
 * The time limit of a request that transfers little, with all its attempts: a server that accepts
 * connections and never responds delays no one for long.
 */
const SHORT_REQUEST_MS = 20_000
const SHORT_REQUESTS: ReadonlySet<string> = new Set([
  ...['HeadObjectCommand', 'GetObjectCommand', 'DeleteObjectCommand', 'ListObjectsV2Command'],
  ...['ListPartsCommand', 'ListMultipartUploadsCommand'],
])

/**
 * Creates a client with credentials from the usual sources: environment, shared file, web identity
 * or container. The credentials of an EC2 machine are requested only if `AWS_EC2_METADATA_DISABLED`
 * is `false`, because elsewhere nothing responds at that address.
 */
export async function createS3(
  settings: ObjectStoreConfig,
  { shortRequestMs = SHORT_REQUEST_MS } = {},
): Promise<S3> {
  process.env.AWS_EC2_METADATA_DISABLED ??= 'true'
  // The library is loaded only here, so that a start without this setting does not read it.
  const commands = await import('@aws-sdk/client-s3')
  const { endpoint, region, pathStyle, bucket, prefix, encryption, kmsKey } = settings
  const client = new commands.S3Client({
    region,
    ...(endpoint && { endpoint }),
    forcePathStyle: pathStyle,
    maxAttempts: MAX_TRIES,
    // Some servers other than AWS support only the older checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: RESPONSE_MS,
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
    client,
    commands,
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    encryption: {
      ...(encryption && { ServerSideEncryption: encryption }),
      ...(kmsKey && { SSEKMSKeyId: kmsKey }),
    },
  }
}

/** Returns the parts of the location that may be shown: bucket, prefix and server. */
export function describeS3({ bucket, prefix, endpoint }: ObjectStoreConfig): string {
  const place = `s3://${bucket}${prefix && `/${prefix}`}`
  return endpoint ? `${place} at ${new URL(endpoint).host}` : place
}
