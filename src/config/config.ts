import { availableParallelism, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { readTracing, type TracingSettings } from '../observability/tracing-settings.ts'
import { type DeliveryConfig, readDelivery } from './delivery.ts'
import { EnvReader, MAX_COUNT, MAX_TIMER_S, type Rate, splitOnce } from './env-reader.ts'
import { defaultModelsFolder } from './installation.ts'
import { type LiveConfig, readLive } from './live.ts'
import { type LlmConfig, readLlm } from './llm.ts'
import { type NodeConfig, readNode } from './node.ts'
import { type RemoteAsrConfig, readRemoteAsr } from './remote-asr.ts'
import { type DatabaseConfig, readDatabase } from './storage/database.ts'
import { type ObjectStoreConfig, readObjectKeys, readObjectStore } from './storage/object-store.ts'

/** A key given in the environment: `STENO_API_KEYS=account:key,account:key`. */
export type ConfiguredKey = { account: string; key: string }

/** A device that may run installed models, by its name in ONNX Runtime. */
export type Device = 'cpu' | 'cuda' | 'tensorrt' | 'coreml' | 'dml' | 'webgpu'

/** Every setting of the service. */
export type Config = {
  /** The program that translates, a path or a name; undefined = none. */
  apertium: string | undefined
  /** The language model of add-ons; undefined = none. */
  llm: LlmConfig | undefined
  /** The roles of this process, and its address. */
  node: NodeConfig
  http: {
    host: string
    port: number
    /** The absolute base of returned URLs; undefined = taken from each request. */
    publicBaseUrl: string | undefined
    trustProxy: boolean
    /** Lower case, in order of preference. */
    authHeaderNames: string[]
    /** Further response headers that carry the request id, besides `x-request-id`. */
    requestIdHeaderNames: string[]
    maxJsonBytes: number
    listMaxLimit: number
    /** Leaves the messages of live sessions out of lists. */
    listOmitMessages: boolean
    /** Maximum bytes of the metadata that a client attaches to a session afterwards. */
    maxPatchBytes: number
    /** Replaces scheme, host and port of live URLs; undefined = the same as for all other URLs. */
    publicWsBaseUrl: string | undefined
    /** Per key; undefined = none. */
    rateLimit: Rate | undefined
    /** For wrong keys, per IP address; undefined = none. */
    authFailureLimit: Rate | undefined
    /** Host names that requests may address, in lower case; empty = any. */
    allowedHosts: string[]
    /** Origins whose pages may call the API from a browser; `*` = all. */
    corsOrigins: string[]
  }
  keys: ConfiguredKey[]
  models: {
    folder: string
    /** Whether results name the model of each utterance. */
    inResults: boolean
    /** Bytes of memory that installed models may take together. */
    memory: number
    /** Whether a model that a request needs is pulled automatically. */
    autoPull: boolean
    /** Seconds after which an idle model is unloaded; 0 = at once, -1 = never. */
    idleSeconds: number
    /** The device that runs installed models. */
    device: Device
    /** The sources of `steno models pull`. */
    sources: {
      /** A base address under which the paths of all model files lie; undefined = none. */
      mirror: string | undefined
      /** The address used instead of `https://huggingface.co`. */
      hubEndpoint: string
      hubToken: string | undefined
    }
    /** The remote recognition server; undefined = none. */
    remote: RemoteAsrConfig | undefined
    /** Accepted model name → one of stt-1, stt-3, stt-fusion, remote. */
    aliases: Record<string, string>
    /** The `request_params.model` of a request that names none. */
    defaultLabel: string
    /** Codes accepted besides those that the API lists. */
    extraLanguageCodes: string[]
    /** The `audio_to_llm_config.model` of a request that names none. */
    defaultLlm: string
  }
  requests: {
    unknownFields: 'ignore' | 'reject'
    maxMetadataChars: number
    maxVocabulary: number
    maxPrompts: number
    maxTargetLanguages: number
  }
  storage: {
    folder: string
    maxFileBytes: number
    /** The bytes that one account may store; 0 = no limit, undefined = a share of the disk. */
    accountMaxBytes: number | undefined
    /** The bytes that stay free for accepted work; undefined = depends on the size of the disk. */
    minFreeBytes: number | undefined
    /** Seconds an unused upload is kept; 0 = forever. */
    uploadTtl: number
    /** Days a finished job is kept, with its recording; 0 = forever. */
    retentionDays: number
    /** The accounts whose jobs are deleted once their result was delivered. */
    zeroRetention: 'all' | string[]
    /** Seconds that their result is kept for its reader. */
    zeroRetentionWait: number
    /** Days that entries of the audit log are kept; 0 = forever. */
    auditDays: number
    /** Days that objects without a row are kept as orphans; 0 = not at all. */
    orphanDays: number
    /** Deletes old data even if the clock is far ahead of the last run. */
    trustClock: boolean
    /** The PostgreSQL database that rows are in; undefined = SQLite in the folder. */
    database: DatabaseConfig | undefined
    /** Where the keys of objects come from; neither = objects are not encrypted. */
    objectKeys: { file: string | undefined; command: string | undefined }
    /** The S3-compatible storage that objects are in; undefined = files in the folder. */
    objectStore: ObjectStoreConfig | undefined
  }
  media: {
    maxAudio: number
  }
  jobs: {
    maxAttempts: number
    /** Seconds one attempt may take; 0 = no limit. */
    timeout: number
    /** Seconds a job may wait; 0 = no limit. */
    queueTimeout: number
    maxConcurrentPerAccount: number
    maxQueuedPerAccount: number
    /** The seconds of audio times channels that one account may use per UTC month; 0 = no limit. */
    maxSecondsPerMonth: number
    /** The tokens that language models may take for one account per UTC month; 0 = no limit. */
    maxTokensPerMonth: number
    fetchTimeout: number
  }
  /** How sentiments and sentences are serialized: as strings, or as native JSON. */
  addOnResults: 'string' | 'native'
  network: {
    /** Private hosts and CIDR ranges that may be reached; 'all' lifts the guard. */
    allowPrivateNetwork: 'all' | string[]
  }
  live: LiveConfig
  delivery: DeliveryConfig
  metrics: {
    /** The bearer token that `GET /metrics` requires; undefined = none. */
    token: string | undefined
  }
  /** Which traces are exported, by the standard `OTEL_…` variables; undefined = none. */
  tracing: TracingSettings | undefined
  /** The number of recognition processes; one per core by default. */
  workers: number
  logLevel: string
  logFormat: string
}

const DEFAULT_HOST = '127.0.0.1'
const DEFAULT_PORT = 7070
const DEFAULT_AUTH_HEADER = 'x-service-key'

/** The default limits of one recording: on a user's own machine, or as on the public service. */
const LIMITS = {
  own: { maxFileBytes: 5_000_000_000, maxAudio: 12 * 3600 },
  public: { maxFileBytes: 1_000_000_000, maxAudio: 8100 },
}

/** Half of the memory that this machine or container has. */
const MODEL_MEMORY = Math.floor(Math.min(process.constrainedMemory() || totalmem(), totalmem()) / 2)

/** The settings of the commands that talk to a server; the server itself does not read them. */
export type ClientConfig = {
  /** The server to use; undefined = one on this machine. */
  url: string | undefined
  key: string | undefined
  /** Where a server on this machine listens, by the same settings. */
  local: { host: string; port: number }
  /** The header that carries the key. */
  authHeaderName: string
}

/**
 * Reads every setting of the service, with its default; nothing else reads them. Throws one `Error`
 * that names each invalid variable, one per line.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const read = new EnvReader(env, problems)
  const limits = LIMITS[read.oneOf('LIMITS', ['own', 'public'])]
  const database = readDatabase(read)
  const config: Config = {
    apertium: read.text('APERTIUM', '') || undefined,
    llm: readLlm(read, problems),
    node: readNode(read, { isShared: database !== undefined, problems }),
    http: readHttp(read),
    keys: readKeys(read, problems),
    models: readModels(read, env, problems),
    requests: readRequests(read),
    storage: readStorage(read, { ...limits, database, env, problems }),
    media: {
      maxAudio: read.integer('MAX_AUDIO_S', limits.maxAudio, { min: 1 }),
    },
    jobs: readJobs(read),
    addOnResults: read.oneOf('ADDON_RESULTS', ['string', 'native']),
    network: { allowPrivateNetwork: read.networks('ALLOW_PRIVATE_NETWORK') },
    live: readLive(read),
    delivery: readDelivery(read),
    metrics: { token: read.optionalHeaderValue('METRICS_TOKEN') },
    tracing: readTracing(env, problems),
    workers: read.integer('WORKERS', availableParallelism(), { min: 1, max: 256 }),
    logLevel: read.oneOf('LOG_LEVEL', ['info', 'trace', 'debug', 'warn', 'error', 'fatal']),
    logFormat: read.oneOf('LOG_FORMAT', [process.stderr.isTTY ? 'text' : 'json', 'json', 'text']),
  }
  if (!config.models.remote && Object.values(config.models.aliases).includes('remote')) {
    problems.push('STENO_MODEL_ALIASES names remote, which needs STENO_REMOTE_ASR_URL')
  }
  if (config.http.authHeaderNames.length === 0) {
    problems.push('STENO_AUTH_HEADER_NAMES must name at least one header')
  }
  refuseSettings(problems)
  return config
}

function readKeys(read: EnvReader, problems: string[]): ConfiguredKey[] {
  const keys = read.list('API_KEYS', '').flatMap((entry) => {
    const [account, key] = splitOnce(entry, ':')
    if (account && /^[!-~]+$/.test(key)) return [{ account, key }]
    problems.push('STENO_API_KEYS must hold entries account:key, keys in visible ASCII characters')
    return []
  })
  const accounts = new Map<string, string>()
  for (const { account, key } of keys) {
    const otherAccount = accounts.get(key) ?? account
    if (otherAccount !== account) {
      problems.push(
        `STENO_API_KEYS must not give one key to two accounts: ${otherAccount} and ${account}`,
      )
    }
    accounts.set(key, account)
  }
  return keys
}

function readRequests(read: EnvReader): Config['requests'] {
  return {
    unknownFields: read.oneOf('UNKNOWN_FIELDS', ['ignore', 'reject']),
    maxMetadataChars: read.integer('MAX_METADATA_CHARS', 2000),
    maxVocabulary: read.integer('MAX_VOCABULARY', 10_000),
    maxPrompts: read.integer('MAX_PROMPTS', 50),
    maxTargetLanguages: read.integer('MAX_TARGET_LANGUAGES', 100),
  }
}

function readStorage(
  read: EnvReader,
  {
    maxFileBytes,
    database,
    env,
    problems,
  }: Pick<Config['storage'], 'maxFileBytes' | 'database'> & {
    env: Record<string, string | undefined>
    problems: string[]
  },
): Config['storage'] {
  const zeroRetention = read.allOrList('ZERO_RETENTION')
  return {
    folder: resolve(read.text('DATA_DIR', '') || './data'),
    maxFileBytes: read.integer('MAX_FILE_BYTES', maxFileBytes, { min: 1 }),
    accountMaxBytes: read.optionalInteger('ACCOUNT_MAX_BYTES'),
    minFreeBytes: read.optionalInteger('MIN_FREE_BYTES'),
    uploadTtl: read.integer('UPLOAD_TTL_S', 86_400),
    retentionDays: read.days('RETENTION_DAYS', 365),
    zeroRetention,
    zeroRetentionWait: read.integer('ZERO_RETENTION_WAIT_S', 3600, { min: 1 }),
    auditDays: read.days('AUDIT_DAYS', 400),
    orphanDays: read.days('ORPHAN_DAYS', zeroRetention === 'all' ? 0 : 7),
    trustClock: read.boolean('TRUST_CLOCK', false),
    database,
    objectKeys: readObjectKeys(read, problems),
    objectStore: readObjectStore(read, env, problems),
  }
}

function readJobs(read: EnvReader): Config['jobs'] {
  return {
    maxAttempts: read.integer('JOB_MAX_ATTEMPTS', 3, { min: 1, max: MAX_COUNT }),
    timeout: read.integer('JOB_TIMEOUT_S', 21_600, { max: MAX_TIMER_S }),
    queueTimeout: read.integer('QUEUE_TIMEOUT_S', 0),
    maxConcurrentPerAccount: read.integer('MAX_CONCURRENT_JOBS', 25, { min: 1 }),
    maxQueuedPerAccount: read.integer('MAX_QUEUED_JOBS', 300, { min: 1 }),
    maxSecondsPerMonth: read.integer('ACCOUNT_MAX_SECONDS_PER_MONTH', 0),
    maxTokensPerMonth: read.integer('ACCOUNT_MAX_TOKENS_PER_MONTH', 0),
    fetchTimeout: read.integer('FETCH_TIMEOUT_S', 300, { min: 1, max: MAX_TIMER_S }),
  }
}

function readHttp(read: EnvReader): Config['http'] {
  return {
    host: read.host('HOST', DEFAULT_HOST),
    port: read.integer('PORT', DEFAULT_PORT, { max: 65_535 }),
    publicBaseUrl: read.serviceUrl('PUBLIC_BASE_URL'),
    trustProxy: read.boolean('TRUST_PROXY', false),
    authHeaderNames: read.headerNames('AUTH_HEADER_NAMES', DEFAULT_AUTH_HEADER),
    requestIdHeaderNames: read.headerNames('REQUEST_ID_HEADER_NAMES', ''),
    maxJsonBytes: read.integer('MAX_JSON_BYTES', 1024 * 1024, { min: 1 }),
    listMaxLimit: read.integer('LIST_MAX_LIMIT', 1000, { min: 1, max: MAX_COUNT }),
    listOmitMessages: read.boolean('LIST_OMIT_MESSAGES', false),
    maxPatchBytes: read.integer('MAX_PATCH_BYTES', 100_000, { min: 1 }),
    publicWsBaseUrl: read.url('PUBLIC_WS_BASE_URL', /^wss?:/, 'ws or wss'),
    rateLimit: read.rate('RATE_LIMIT', '600/100'),
    authFailureLimit: read.rate('AUTH_FAILURE_LIMIT', '20/40'),
    allowedHosts: read.hosts('ALLOWED_HOSTS'),
    corsOrigins: read.origins('CORS_ORIGINS'),
  }
}

function readModels(
  read: EnvReader,
  env: Record<string, string | undefined>,
  problems: string[],
): Config['models'] {
  return {
    folder: resolve(read.text('MODELS_DIR', '') || defaultModelsFolder(env)),
    inResults: read.boolean('RESULT_MODEL', false),
    memory: read.integer('MODEL_MEMORY', MODEL_MEMORY, { min: 1 }),
    autoPull: read.boolean('MODELS_AUTO_PULL', false),
    idleSeconds: read.integer('MODEL_IDLE_SECONDS', 300, { min: -1, max: MAX_TIMER_S }),
    device: read.oneOf('DEVICE', ['cpu', 'cuda', 'tensorrt', 'coreml', 'dml', 'webgpu']),
    sources: {
      mirror: read.url('MODELS_MIRROR'),
      hubEndpoint: readHubEndpoint(env.HF_ENDPOINT, problems),
      hubToken: env.HF_TOKEN || undefined,
    },
    remote: readRemoteAsr(read, problems),
    aliases: read.map('MODEL_ALIASES', ['stt-1', 'stt-3', 'stt-fusion', 'remote']),
    defaultLabel: read.text('DEFAULT_MODEL_LABEL', 'stt-1'),
    extraLanguageCodes: read.languageCodes('EXTRA_LANGUAGE_CODES'),
    defaultLlm: read.text('DEFAULT_LLM_MODEL', 'default'),
  }
}

/**
 * Reads the endpoint of Hugging Face. The variable has no `STENO_` prefix because the tools of
 * Hugging Face read it too.
 */
function readHubEndpoint(value: string | undefined, problems: string[]): string {
  if (!value) return 'https://huggingface.co'
  if (!/^https?:/.test(value) || !URL.canParse(value)) {
    problems.push('HF_ENDPOINT must be an absolute http or https URL')
  }
  return value.replace(/\/+$/, '')
}

/** Reads the settings of the client commands; throws like `readConfig`. */
export function readClientConfig(env: Record<string, string | undefined>): ClientConfig {
  const problems: string[] = []
  const read = new EnvReader(env, problems)
  const config: ClientConfig = {
    url: read.url('URL'),
    key: read.text('KEY', '') || undefined,
    local: {
      host: read.host('HOST', DEFAULT_HOST),
      port: read.integer('PORT', DEFAULT_PORT, { max: 65_535 }),
    },
    authHeaderName: read.list('AUTH_HEADER_NAMES', DEFAULT_AUTH_HEADER)[0] ?? DEFAULT_AUTH_HEADER,
  }
  refuseSettings(problems)
  return config
}

/** Returns the names of all variables that are read. */
export function settingNames(): string[] {
  const names = new Set<string>()
  const env = new Proxy({}, { get: (_, name) => void names.add(String(name)) })
  readConfig(env)
  readClientConfig(env)
  return [...names].sort()
}

/** Returns the names in `env` that look like settings but are unknown, such as misspelled ones. */
export function unknownSettings(env: Record<string, string | undefined>): string[] {
  const knownNames = new Set(settingNames())
  return Object.keys(env).filter((name) => name.startsWith('STENO_') && !knownNames.has(name))
}

function refuseSettings(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
