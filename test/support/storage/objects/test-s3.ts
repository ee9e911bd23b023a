import { randomUUID } from 'node:crypto'
import {
  startS3,
  TEST_CREDENTIALS,
  type TestS3,
  whyNoS3,
} from '../../../../scripts/tests/test-tools/test-s3.ts'
import type { ObjectStoreConfig } from '../../../../src/config/storage/object-store.ts'

/** Why tests with S3-compatible storage are skipped here; `false` if they run. */
export const noS3: string | false = whyNoS3() ?? false

let started: Promise<TestS3> | undefined

/** Returns the S3 server of this process, with which it ends, and gives it its credentials. */
export function testS3(): Promise<TestS3> {
  Object.assign(process.env, TEST_CREDENTIALS)
  started ??= startS3()
  return started
}

/** Returns settings of an empty place in the bucket; `endpoint` may be that of a proxy. */
export async function s3Settings(
  changes: Partial<ObjectStoreConfig> = {},
): Promise<ObjectStoreConfig> {
  const { endpoint } = await testS3()
  return {
    bucket: 'test',
    prefix: randomUUID(),
    endpoint,
    region: 'us-east-1',
    pathStyle: true,
    encryption: undefined,
    kmsKey: undefined,
    cacheBytes: 1_000_000,
    startSeconds: 5,
    ...changes,
  }
}

/** Returns the setting `STENO_OBJECT_STORE` for such a place. */
export function s3Url({ bucket, prefix, endpoint }: ObjectStoreConfig): string {
  return `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint!)}`
}
