import type { EnvReader } from '../env-reader.ts'

/** The settings of an S3-compatible storage. */
export type ObjectStoreConfig = {
  bucket: string
  /** Precedes every key; empty, or without slashes at its ends. */
  prefix: string
  /** Undefined = that of the region on AWS, or of `AWS_ENDPOINT_URL_S3`. */
  endpoint: string | undefined
  region: string
  /** Whether the bucket is a part of the path instead of the host name. */
  pathStyle: boolean
  /** The encryption by the server; undefined = the setting of the bucket. */
  encryption: 'AES256' | 'aws:kms' | undefined
  /** The key of `aws:kms`; undefined = that of the bucket. */
  kmsKey: string | undefined
  /** Bytes of local copies that are kept for further use. */
  cacheBytes: number
  /** Seconds that a start waits for a server that cannot be reached. */
  startSeconds: number
}

const FORM =
  's3://BUCKET/PREFIX, with ?endpoint=URL&region=NAME&pathStyle=true&encryption=AES256&kmsKey=ID as needed'
const OPTIONS = ['endpoint', 'region', 'pathStyle', 'encryption', 'kmsKey']
const CACHE_BYTES = 5_000_000_000

/** Reads the settings of the object store; undefined for the data folder. */
export function readObjectStore(
  read: EnvReader,
  env: Record<string, string | undefined>,
  problems: string[],
): ObjectStoreConfig | undefined {
  const cacheBytes = read.integer('OBJECT_CACHE_BYTES', CACHE_BYTES)
  const startSeconds = read.integer('OBJECT_STORE_START_S', 60)
  const value = read.text('OBJECT_STORE', 'disk')
  if (value === 'disk') return undefined
  const location = parseLocation(value, env)
  if (location) return { ...location, cacheBytes, startSeconds }
  problems.push(`STENO_OBJECT_STORE must be disk or ${FORM}`)
  return undefined
}

type BucketLocation = Omit<ObjectStoreConfig, 'cacheBytes' | 'startSeconds'>

function parseLocation(
  value: string,
  env: Record<string, string | undefined>,
): BucketLocation | undefined {
  if (!value.startsWith('s3://') || !URL.canParse(value)) return undefined
  const { hostname: bucket, pathname, searchParams, username, port } = new URL(value)
  if (bucket === '' || username || port) return undefined
  if ([...searchParams.keys()].some((name) => !OPTIONS.includes(name))) return undefined
  const option = (name: string) => searchParams.get(name) || undefined
  const endpoint = option('endpoint')?.replace(/\/+$/, '')
  if (endpoint && !(URL.canParse(endpoint) && /^https?:/.test(endpoint))) return undefined
  const pathStyle = option('pathStyle') ?? String(endpoint !== undefined)
  const encryption = option('encryption')
  if (pathStyle !== 'true' && pathStyle !== 'false') return undefined
  if (encryption !== undefined && encryption !== 'AES256' && encryption !== 'aws:kms') {
    return undefined
  }
  return {
    bucket,
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ''),
    endpoint,
    encryption,
    pathStyle: pathStyle === 'true',
    region: option('region') ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1',
    kmsKey: option('kmsKey'),
  }
}

/** Reads the source of the encryption keys of objects. */
export function readObjectKeys(
  read: EnvReader,
  problems: string[],
): { file: string | undefined; command: string | undefined } {
  const file = read.text('OBJECT_KEY_FILE', '') || undefined
  const command = read.command('OBJECT_KEY_COMMAND')
  if (file && command) {
    problems.push('STENO_OBJECT_KEY_FILE and STENO_OBJECT_KEY_COMMAND exclude each other')
  }
  return { file, command }
}
