import { randomUUID } from 'node:crypto'
import { startS3, TEST_CREDENTIALS, type TestS3, whyNoS3 } from '../../scripts/test-s3.ts'
import type { S3Settings } from '../../src/storage/s3/s3-client.ts'

/** Why tests with S3-compatible storage are skipped here; `false` if they run. */
export const noS3: string | false = whyNoS3() ?? false

let started: Promise<TestS3> | undefined

/** Returns the S3 server of this process, and gives this process its credentials. */
export function testS3(): Promise<TestS3> {
  Object.assign(process.env, TEST_CREDENTIALS)
  started ??= start()
  return started
}

async function start(): Promise<TestS3> {
  const s3 = await startS3()
  // Not `after`: that ends with the first of the test files that share this process.
  process.once('exit', () => s3.close())
  return s3
}

/** Returns settings of an empty place in the bucket; `endpoint` may be that of a proxy. */
export async function s3Settings(changes: Partial<S3Settings> = {}): Promise<S3Settings> {
  const { endpoint } = await testS3()
  return {
    ...{ bucket: 'test', prefix: randomUUID(), endpoint, region: 'us-east-1', pathStyle: true },
    ...{ encryption: undefined, kmsKey: undefined, cacheBytes: 1_000_000, startSeconds: 5 },
    ...changes,
  }
}

/** Returns the setting `STENO_OBJECT_STORE` for such a place. */
export function s3Url({ bucket, prefix, endpoint }: S3Settings): string {
  return `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint!)}`
}
