import type { createReader } from '../env-reader.ts'

/** Which S3-compatible storage holds objects, and how; see `S3Settings` of the storage. */
export type ObjectStoreConfig = {
  bucket: string
  prefix: string
  endpoint: string | undefined
  region: string
  pathStyle: boolean
  encryption: 'AES256' | 'aws:kms' | undefined
  kmsKey: string | undefined
  cacheBytes: number
  startSeconds: number
}

const FORM =
  's3://BUCKET/PREFIX, with ?endpoint=URL&region=NAME&pathStyle=true&encryption=AES256&kmsKey=ID as needed'
const OPTIONS = ['endpoint', 'region', 'pathStyle', 'encryption', 'kmsKey']
const CACHE_BYTES = 5_000_000_000

type Reader = ReturnType<typeof createReader>

/** Reads where objects are; undefined for the data folder. */
export function readObjectStore(
  read: Reader,
  env: Record<string, string | undefined>,
  problems: string[],
): ObjectStoreConfig | undefined {
  const cacheBytes = read.integer('OBJECT_CACHE_BYTES', CACHE_BYTES)
  const startSeconds = read.integer('OBJECT_STORE_START_S', 60)
  const value = read.text('OBJECT_STORE', 'disk')
  if (value === 'disk') return undefined
  const place = parse(value, env)
  if (place) return { ...place, cacheBytes, startSeconds }
  problems.push(`STENO_OBJECT_STORE must be disk or ${FORM}`)
  return undefined
}

type Place = Omit<ObjectStoreConfig, 'cacheBytes' | 'startSeconds'>

function parse(value: string, env: Record<string, string | undefined>): Place | undefined {
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
    ...{ endpoint, encryption, pathStyle: pathStyle === 'true' },
    region: option('region') ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1',
    kmsKey: option('kmsKey'),
  }
}
