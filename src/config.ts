import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A key given in the environment: `STENO_API_KEYS=account:key,account:key`. */
export type ConfiguredKey = { account: string; key: string }

/** Requests that may come in a minute, in the long run, and at once after a pause. */
export type Rate = { perMinute: number; burst: number }

/** Limits and clocks of live sessions. Seconds, unless the name says otherwise. */
export type LiveConfig = {
  /** Sessions of an account that have not ended. */
  maxPerAccount: number
  /** Sessions that the machine takes; undefined = as many as were measured to fit. 0 = none. */
  slots: number | undefined
  connectTimeout: number
  resumeWindow: number
  maxSeconds: number
  /** 0 = no limit. */
  idleTimeout: number
  tokenGrace: number
  /** Gaps between voiced frames that are shorter do not count as silence. */
  vadHangover: number
  partialIntervalMs: number
  maxBacklog: number
  maxQueuedMessages: number
  maxStoredMessages: number
  maxFrameBytes: number
  /** Of the first frame of a resumed connection. */
  resumeFrameBytes: number
  /** How far back a resumed connection may repeat what has arrived already. */
  resumeDedupe: number
}

/** Every setting of the service, complete. */
export type Config = {
  http: {
    host: string
    port: number
    /** Absolute base of returned URLs; undefined = taken from each request. */
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
    /** Most bytes of the metadata that a client attaches to a session afterwards. */
    maxPatchBytes: number
    /** Replaces scheme, host and port of live addresses; undefined = those of all others. */
    publicWsBaseUrl: string | undefined
    /** Of each key; undefined = none. */
    rateLimit: Rate | undefined
  }
  keys: ConfiguredKey[]
  models: {
    folder: string
    /** Accepted model name → one of stt-1, stt-3, stt-fusion. */
    aliases: Record<string, string>
    /** What `request_params.model` shows when the client named none. */
    defaultLabel: string
    /** Codes accepted besides those of the contract. */
    extraLanguageCodes: string[]
    /** Name given to `audio_to_llm_config.model` when the client named none. */
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
    /** Seconds an upload that no job uses is kept; 0 = forever. */
    uploadTtl: number
    /** Days a job that has ended is kept, with its recording; 0 = forever. */
    retentionDays: number
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
    fetchTimeout: number
    /** Hosts and CIDR ranges that a fetch may reach though they are private; 'all' lifts the guard. */
    allowPrivateNetwork: 'all' | string[]
  }
  live: LiveConfig
  /** Recognition processes; one per core. */
  workers: number
  logLevel: string
}

const DEFAULT_HOST = '127.0.0.1'
const DEFAULT_PORT = 7070
const DEFAULT_AUTH_HEADER = 'x-service-key'

/** Where the checkout stands: models are installed beside it. */
const projectFolder = fileURLToPath(new URL('..', import.meta.url))

/** What the commands that talk to a server read; the server itself needs none of it. */
export type ClientConfig = {
  /** The server to use; undefined = one on this machine. */
  url: string | undefined
  key: string | undefined
  /** Where a server of this machine listens, by the same settings. */
  local: { host: string; port: number }
  /** The header that carries the key. */
  authHeaderName: string
}

/**
 * Reads every setting of the service, with its default, and nothing else does. Throws one `Error`
 * that names each variable at fault, one per line.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const read = createReader(env, problems)
  const config: Config = {
    http: {
      host: read.text('HOST', DEFAULT_HOST),
      port: read.integer('PORT', DEFAULT_PORT, { max: 65_535 }),
      publicBaseUrl: read.url('PUBLIC_BASE_URL'),
      trustProxy: read.boolean('TRUST_PROXY', false),
      authHeaderNames: read
        .list('AUTH_HEADER_NAMES', DEFAULT_AUTH_HEADER)
        .map((n) => n.toLowerCase()),
      requestIdHeaderNames: read.list('REQUEST_ID_HEADER_NAMES', '').map((n) => n.toLowerCase()),
      maxJsonBytes: read.integer('MAX_JSON_BYTES', 1024 * 1024, { min: 1 }),
      listMaxLimit: read.integer('LIST_MAX_LIMIT', 1000, { min: 1 }),
      listOmitMessages: read.boolean('LIST_OMIT_MESSAGES', false),
      maxPatchBytes: read.integer('MAX_PATCH_BYTES', 100_000, { min: 1 }),
      publicWsBaseUrl: read.url('PUBLIC_WS_BASE_URL', /^wss?:/, 'ws or wss'),
      rateLimit: read.rate('RATE_LIMIT', '600/100'),
    },
    keys: read.list('API_KEYS', '').flatMap((entry) => {
      const [account, key] = splitOnce(entry, ':')
      if (account && key) return [{ account, key }]
      problems.push('STENO_API_KEYS must hold entries of the form account:key')
      return []
    }),
    models: {
      folder: resolve(read.text('MODELS_DIR', join(projectFolder, 'models'))),
      aliases: read.map('MODEL_ALIASES', ['stt-1', 'stt-3', 'stt-fusion']),
      defaultLabel: read.text('DEFAULT_MODEL_LABEL', 'stt-1'),
      extraLanguageCodes: read.list('EXTRA_LANGUAGE_CODES', ''),
      defaultLlm: read.text('DEFAULT_LLM_MODEL', 'default'),
    },
    requests: {
      unknownFields: read.oneOf('UNKNOWN_FIELDS', ['ignore', 'reject']),
      maxMetadataChars: read.integer('MAX_METADATA_CHARS', 2000),
      maxVocabulary: read.integer('MAX_VOCABULARY', 10_000),
      maxPrompts: read.integer('MAX_PROMPTS', 50),
      maxTargetLanguages: read.integer('MAX_TARGET_LANGUAGES', 100),
    },
    storage: {
      folder: resolve(read.text('DATA_DIR', './data')),
      maxFileBytes: read.integer('MAX_FILE_BYTES', 1_000_000_000, { min: 1 }),
      uploadTtl: read.integer('UPLOAD_TTL_S', 86_400),
      retentionDays: read.integer('RETENTION_DAYS', 365),
    },
    media: {
      maxAudio: read.integer('MAX_AUDIO_S', 8100, { min: 1 }),
    },
    jobs: {
      maxAttempts: read.integer('JOB_MAX_ATTEMPTS', 3, { min: 1 }),
      timeout: read.integer('JOB_TIMEOUT_S', 21_600),
      queueTimeout: read.integer('QUEUE_TIMEOUT_S', 0),
      maxConcurrentPerAccount: read.integer('MAX_CONCURRENT_JOBS', 25, { min: 1 }),
      maxQueuedPerAccount: read.integer('MAX_QUEUED_JOBS', 300, { min: 1 }),
      fetchTimeout: read.integer('FETCH_TIMEOUT_S', 300, { min: 1 }),
      allowPrivateNetwork: read.networks('ALLOW_PRIVATE_NETWORK'),
    },
    live: {
      maxPerAccount: read.integer('MAX_LIVE_SESSIONS', 30, { min: 1 }),
      slots: read.optionalInteger('LIVE_SLOTS'),
      connectTimeout: read.integer('LIVE_CONNECT_TIMEOUT_S', 300, { min: 1 }),
      resumeWindow: read.integer('LIVE_RESUME_WINDOW_S', 120, { min: 1 }),
      maxSeconds: read.integer('LIVE_MAX_S', 10_800, { min: 1 }),
      idleTimeout: read.integer('LIVE_IDLE_TIMEOUT_S', 0),
      tokenGrace: read.integer('LIVE_TOKEN_GRACE_S', 60),
      vadHangover: read.decimal('LIVE_VAD_HANGOVER_S', 0.25, { min: 0, max: 5 }),
      partialIntervalMs: read.integer('LIVE_PARTIAL_INTERVAL_MS', 300, { min: 50 }),
      maxBacklog: read.integer('LIVE_MAX_BACKLOG_S', 600, { min: 1 }),
      maxQueuedMessages: read.integer('LIVE_MAX_QUEUED_MESSAGES', 10_000, { min: 1 }),
      maxStoredMessages: read.integer('LIVE_MAX_STORED_MESSAGES', 50_000, { min: 1 }),
      maxFrameBytes: read.integer('LIVE_MAX_FRAME_BYTES', 1024 * 1024, { min: 1024 }),
      resumeFrameBytes: read.integer('LIVE_RESUME_FRAME_BYTES', 32 * 1024 * 1024, { min: 1024 }),
      resumeDedupe: read.integer('RESUME_DEDUPE_S', 30),
    },
    workers: read.integer('WORKERS', availableParallelism(), { min: 1, max: 256 }),
    logLevel: read.oneOf('LOG_LEVEL', ['info', 'trace', 'debug', 'warn', 'error', 'fatal']),
  }
  if (config.http.authHeaderNames.length === 0) {
    problems.push('STENO_AUTH_HEADER_NAMES must name at least one header')
  }
  for (const name of ['DATABASE_URL', 'OBJECT_STORE', 'ROLES']) {
    // Planned settings: ignoring them would store data somewhere the operator did not ask for.
    if (env[`STENO_${name}`]) problems.push(`STENO_${name} is not supported by this version`)
  }
  refuse(problems)
  return config
}

/** Reads the settings of the client commands, and throws like `readConfig`. */
export function readClientConfig(env: Record<string, string | undefined>): ClientConfig {
  const problems: string[] = []
  const read = createReader(env, problems)
  const config: ClientConfig = {
    url: read.url('URL'),
    key: read.text('KEY', '') || undefined,
    local: {
      host: read.text('HOST', DEFAULT_HOST),
      port: read.integer('PORT', DEFAULT_PORT, { max: 65_535 }),
    },
    authHeaderName: read.list('AUTH_HEADER_NAMES', DEFAULT_AUTH_HEADER)[0] ?? DEFAULT_AUTH_HEADER,
  }
  refuse(problems)
  return config
}

/** Names of all variables that are read. */
export function settingNames(): string[] {
  const names = new Set<string>()
  const env = new Proxy({}, { get: (_, name) => void names.add(String(name)) })
  readConfig(env)
  readClientConfig(env)
  return [...names].sort()
}

/** Names in `env` that look like settings and are none, such as a misspelt one. */
export function unknownSettings(env: Record<string, string | undefined>): string[] {
  const known = new Set(settingNames())
  return Object.keys(env).filter((name) => name.startsWith('STENO_') && !known.has(name))
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** A host name, an address or a CIDR range; nothing that only looks like one, for it would allow nothing. */
function isNetwork(entry: string): boolean {
  const [address, prefix] = splitOnce(entry, '/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family > 0) {
    if (!entry.includes('/')) return true
    return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
  }
  // A name whose last part is a number is read as an IPv4 address wherever it is asked for.
  return /^(?!.{254})([a-z\d_]([\w-]{0,61}[a-z\d_])?\.)*[a-z]([\w-]{0,61}[a-z\d])?$/i.test(entry)
}

type Bounds = { min?: number; max?: number }

/** Readers of one variable each; a bad value is noted in `problems` and the default is used. */
function createReader(env: Record<string, string | undefined>, problems: string[]) {
  const text = (name: string, fallback: string) => env[`STENO_${name}`] || fallback
  return {
    text,
    integer(
      name: string,
      fallback: number,
      { min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds = {},
    ) {
      const value = Number(text(name, String(fallback)))
      if (Number.isInteger(value) && value >= min && value <= max) return value
      problems.push(`STENO_${name} must be an integer from ${min} to ${max}`)
      return fallback
    },
    boolean(name: string, fallback: boolean) {
      const value = text(name, String(fallback))
      if (value !== 'true' && value !== 'false')
        problems.push(`STENO_${name} must be true or false`)
      return value === 'true'
    },
    oneOf<T extends string>(name: string, [fallback, ...others]: [T, ...T[]]): T {
      const found = [fallback, ...others].find((choice) => choice === text(name, fallback))
      if (!found) problems.push(`STENO_${name} must be one of: ${[fallback, ...others].join(', ')}`)
      return found ?? fallback
    },
    list: (name: string, fallback: string) => splitList(text(name, fallback)),
    decimal(name: string, fallback: number, { min, max }: { min: number; max: number }) {
      const value = Number(text(name, String(fallback)))
      if (value >= min && value <= max) return value
      problems.push(`STENO_${name} must be a number from ${min} to ${max}`)
      return fallback
    },
    optionalInteger(name: string): number | undefined {
      return env[`STENO_${name}`] ? this.integer(name, 0) : undefined
    },
    url(name: string, schemes = /^https?:/, named = 'http or https') {
      const value = env[`STENO_${name}`]
      if (!value) return undefined
      if (URL.canParse(value) && schemes.test(value)) return value.replace(/\/+$/, '')
      problems.push(`STENO_${name} must be an absolute ${named} URL`)
      return undefined
    },
    networks(name: string): 'all' | string[] {
      const value = text(name, 'false')
      if (value === 'true') return 'all'
      if (value === 'false') return []
      const entries = splitList(value)
      const wrong = entries.find(
        (entry) => !isNetwork(entry) || /^(true|false|yes|no)$/i.test(entry),
      )
      if (wrong !== undefined) {
        const forms = 'true, false, or a list of host names, addresses and CIDR ranges'
        problems.push(`STENO_${name} must be ${forms}: ${wrong} is none of them`)
      }
      return entries
    },
    rate(name: string, fallback: string): Rate | undefined {
      const value = text(name, fallback)
      if (value === '0') return undefined
      const [, perMinute, burst] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(value) ?? []
      if (burst) return { perMinute: Number(perMinute), burst: Number(burst) }
      problems.push(`STENO_${name} must be requests per minute/at once, such as ${fallback}, or 0`)
      return undefined
    },
    map(name: string, targets: readonly string[]) {
      const entries = splitList(text(name, '')).map((entry) => splitOnce(entry, '='))
      if (entries.some(([from, to]) => !from || !targets.includes(to))) {
        problems.push(`STENO_${name} must hold entries name=target, targets: ${targets.join(', ')}`)
      }
      return Object.fromEntries(entries)
    },
  }
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || [])
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
