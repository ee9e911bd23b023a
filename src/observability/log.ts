import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/config.ts'
import { formatLogLine } from './log-text.ts'
import { stderrLines } from './stderr-lines.ts'

/** The logger of the service. */
export type Log = Logger

type LogOptions = {
  /** Where the lines go; stderr by default. */
  destination?: DestinationStream
  /** Texts that must never appear, such as configured keys. */
  secrets?: readonly string[]
  /** Headers whose value is a secret, in lower case. */
  secretHeaders?: readonly string[]
  /** Whether lines are text for terminals instead of JSON. */
  isText?: boolean
}

/**
 * Creates the root logger: lines of JSON or text on stderr, so that stdout stays free for results.
 * Each module takes a child (`log.child({ module: 'jobs' })`). Never log audio, transcripts,
 * prompts, keys, or URLs with tokens. Secrets that are recognizable by format or name are hidden in
 * each line nevertheless, because a library may log its input.
 */
export function createLog(level: string, options: LogOptions = {}): Log {
  const { destination = stderrLines, isText = false } = options
  const hide = createSecretMask(options)
  const streamWrite = isText ? (line: string) => formatLogLine(hide(line)) : hide
  const hooks = { streamWrite }
  const timestamp = pino.stdTimeFunctions.isoTime
  return pino({ level, base: null, timestamp, hooks }, destination)
}

/** Creates the root logger of a server, which knows the secrets in its settings. */
export function createServerLog(config: Config, { destination }: LogOptions = {}): Log {
  const { keys, delivery, metrics, http, models, logFormat } = config
  const secrets = [
    ...keys.map(({ key }) => key),
    ...delivery.secrets.map(({ secret }) => secret),
    ...[metrics.token, models.sources.hubToken].filter((token) => token !== undefined),
  ]
  const options = { secrets, secretHeaders: http.authHeaderNames, isText: logFormat === 'text' }
  return createLog(config.logLevel, { ...options, ...(destination && { destination }) })
}

const HIDDEN = '[hidden]'
/** Shorter secrets occur in ordinary words; the start warns of such keys. */
const MIN_SECRET = 8

const SECRET_HEADERS = [
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'webhook-signature',
]
const SECRET_FIELDS = ['api_?key', 'password', 'secret', 'token']

/** Creates a function that hides secrets in a line of JSON; the line stays JSON. */
function createSecretMask({
  secrets = [],
  secretHeaders = [],
}: LogOptions): (line: string) => string {
  const headers = [...SECRET_HEADERS, ...secretHeaders.map(escapePattern)].join('|')
  const text = String.raw`"(?:[^"\\]|\\.)*"`
  const value = String.raw`(?:${text}|\[(?:${text},?)*\])`
  const fields = [headers, ...SECRET_FIELDS].join('|')
  const field = new RegExp(String.raw`(?<!\\)("(?:${fields})":)${value}`, 'gi')
  // A name and its value side by side, as in the raw headers of a request.
  const pair = new RegExp(String.raw`(?<!\\)("(?:${headers})",)${text}(?=[,\]])`, 'gi')
  const secretPatterns = secrets
    .filter(({ length }) => length >= MIN_SECRET)
    .map((secret) => {
      return escapePattern(JSON.stringify(secret).slice(1, -1))
    })
  const forms = [
    // Signing secrets, our own keys beyond the id of each, tokens in URLs, bearer tokens.
    String.raw`whsec_[A-Za-z\d+/=]+`,
    // The first is lower case only: names of settings begin the same way.
    String.raw`(?-i:(?<=steno_[\w-]{8})[\w-]{16,})`,
    String.raw`(?<=[?&](?:access_token|api_?key|key|secret|sig|signature|token)=)[^&"\\\s#]+`,
    String.raw`(?<=\bbearer )[\w.~+/=-]+`,
    String.raw`(?<=://)[^/"\\\s@]+(?=@)`,
  ]
  const secretPattern = new RegExp([...secretPatterns, ...forms].join('|'), 'gi')
  const inPlace = `$1"${HIDDEN}"`
  return (line) => {
    return line.replace(field, inPlace).replace(pair, inPlace).replace(secretPattern, HIDDEN)
  }
}

function escapePattern(text: string): string {
  return text.replace(/[^\w]/g, '\\$&')
}
