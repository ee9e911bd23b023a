import { isIP } from 'node:net'
import { MAX_TIMER_MS } from '../clock.ts'

/** Requests per minute on average, and the burst that is allowed after a pause. */
export type Rate = { perMinute: number; burst: number }

/**
 * Returns whether `entry` is a host name, an IP address or a CIDR range. Rejects invalid entries,
 * because they would match nothing.
 */
function isNetwork(entry: string): boolean {
  const [address, prefix] = splitOnce(entry, '/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family > 0) {
    if (!entry.includes('/')) return true
    return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
  }
  return HOST_NAME.test(entry)
}

/** A host name. Resolvers read a name whose last part is a number as an IPv4 address. */
const HOST_NAME = /^(?!.{254})([a-z\d_]([\w-]{0,61}[a-z\d_])?\.)*[a-z]([\w-]{0,61}[a-z\d])?$/i

/** Returns whether `text` is a signing secret of Standard Webhooks: 24 to 64 bytes. */
function isSigningSecret(text: string): boolean {
  const [, base64] = /^whsec_([A-Za-z\d+/]+={0,2})$/.exec(text) ?? []
  if (base64 === undefined) return false
  const { length } = Buffer.from(base64, 'base64')
  return length >= 24 && length <= 64
}

/** The longest time that a timer can wait, in seconds; a longer one would fire at once. */
export const MAX_TIMER_S = Math.floor(MAX_TIMER_MS / 1000)

/** The largest count that statements of PostgreSQL can hold and increase, as an `integer`. */
export const MAX_COUNT = 1_000_000_000

/** Maximum days before or after 1970 that a `Date` can hold. */
const MAX_DAYS = 100_000_000

type NumberBounds = { min?: number; max?: number }

/**
 * Reads one variable per call, by its name without `STENO_`. A bad value is added to `problems`,
 * and the default is used.
 */
export class EnvReader {
  readonly #env: Record<string, string | undefined>
  readonly #problems: string[]

  constructor(env: Record<string, string | undefined>, problems: string[]) {
    this.#env = env
    this.#problems = problems
  }

  /** Returns a value without the blanks and line ends around it, which files of settings leave. */
  text(name: string, fallback: string): string {
    const value = this.#env[`STENO_${name}`]
    if (!value) return fallback
    const [, , unquoted] = /^\s*(["'])(.*)\1\s*$/s.exec(value) ?? []
    if (unquoted === undefined) return value.trim()
    this.#problems.push(`STENO_${name} must not be in quotes, which Docker keeps in an env file`)
    return unquoted
  }

  /** Returns a shell command, which may be in quotes. */
  command(name: string): string | undefined {
    return this.#env[`STENO_${name}`] || undefined
  }

  integer(
    name: string,
    fallback: number,
    { min = 0, max = Number.MAX_SAFE_INTEGER }: NumberBounds = {},
  ): number {
    const value = toNumber(this.text(name, String(fallback)))
    if (Number.isInteger(value) && value >= min && value <= max) return value
    this.#problems.push(`STENO_${name} must be an integer from ${min} to ${max}`)
    return fallback
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.text(name, String(fallback))
    if (value !== 'true' && value !== 'false')
      this.#problems.push(`STENO_${name} must be true or false`)
    return value === 'true'
  }

  oneOf<T extends string>(name: string, [fallback, ...others]: [T, ...T[]]): T {
    const choices = [...new Set([fallback, ...others])]
    const match = choices.find((choice) => choice === this.text(name, fallback))
    if (!match) this.#problems.push(`STENO_${name} must be one of: ${choices.join(', ')}`)
    return match ?? fallback
  }

  list(name: string, fallback: string): string[] {
    return splitList(this.text(name, fallback))
  }

  /** Reads the host to listen on; an address in brackets, as in a URL, is accepted. */
  host(name: string, fallback: string): string {
    const host = (this.text(name, fallback) || fallback).replace(/^\[(.*)\]$/, '$1')
    if (isIP(host) > 0 || HOST_NAME.test(host)) return host
    const form = 'a host name or an IP address, without a scheme or a port'
    this.#problems.push(`STENO_${name} must be ${form}, not ${host}`)
    return fallback
  }

  decimal(name: string, fallback: number, { min, max }: { min: number; max: number }): number {
    const value = toNumber(this.text(name, String(fallback)))
    if (value >= min && value <= max) return value
    this.#problems.push(`STENO_${name} must be a number from ${min} to ${max}`)
    return fallback
  }

  days(name: string, fallback: number): number {
    return this.integer(name, fallback, { max: MAX_DAYS })
  }

  optionalInteger(name: string): number | undefined {
    return this.#env[`STENO_${name}`] ? this.integer(name, 0) : undefined
  }

  url(name: string, schemes = /^https?:/, named = 'http or https'): string | undefined {
    if (!this.#env[`STENO_${name}`]) return undefined
    const value = this.text(name, '')
    if (URL.canParse(value) && schemes.test(value)) return value.replace(/\/+$/, '')
    this.#problems.push(`STENO_${name} must be an absolute ${named} URL`)
    return undefined
  }

  /** Reads `true` for all of something, `false` for none, or a list of names. */
  allOrList(name: string): 'all' | string[] {
    const value = this.text(name, 'false')
    if (value === 'true') return 'all'
    const entries = value === 'false' ? [] : splitList(value)
    const wrong = entries.find(isSwitch)
    if (wrong !== undefined) {
      this.#problems.push(
        `STENO_${name} must be true, false or a list of names: ${wrong} is not a name`,
      )
    }
    return entries
  }

  networks(name: string): 'all' | string[] {
    const value = this.text(name, 'false')
    if (value === 'true') return 'all'
    const entries = value === 'false' ? [] : splitList(value)
    const wrong = entries.find((entry) => !isNetwork(entry) || isSwitch(entry))
    if (wrong !== undefined) {
      const forms = 'true, false, or a list of host names, addresses and CIDR ranges'
      this.#problems.push(`STENO_${name} must be ${forms}, not ${wrong}`)
    }
    return entries
  }

  rate(name: string, fallback: string): Rate | undefined {
    const value = this.text(name, fallback)
    if (value === '0') return undefined
    const [, perMinute, burst] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(value) ?? []
    if (burst) return { perMinute: Number(perMinute), burst: Number(burst) }
    this.#problems.push(
      `STENO_${name} must be requests per minute/at once, such as ${fallback}, or 0`,
    )
    return undefined
  }

  /** Reads a header value: visible ASCII, with spaces between. */
  headerValue(name: string, fallback: string): string {
    const value = this.text(name, fallback)
    if (/^[!-~]([ -~]*[!-~])?$/.test(value)) return value
    this.#problems.push(`STENO_${name} must be visible ASCII characters`)
    return fallback
  }

  optionalHeaderValue(name: string): string | undefined {
    return this.#env[`STENO_${name}`] ? this.headerValue(name, '') : undefined
  }

  /** Reads names of headers, in lower case. */
  headerNames(name: string, fallback: string): string[] {
    const names = this.list(name, fallback).map((header) => header.toLowerCase())
    const wrong = names.find((header) => !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    if (wrong !== undefined) {
      this.#problems.push(`STENO_${name} must hold names of headers: ${wrong} is not one`)
    }
    return names
  }

  /** Reads prefixes of header names, in lower case and without a trailing dash. */
  headerPrefixes(name: string): string[] {
    const prefixes = this.list(name, '').map((prefix) => prefix.toLowerCase().replace(/-$/, ''))
    const wrong = prefixes.find((prefix) => !/^[a-z\d]+(-[a-z\d]+)*$/.test(prefix))
    if (wrong !== undefined) {
      this.#problems.push(`STENO_${name} must hold names such as x-example: ${wrong} is not one`)
    }
    return prefixes.filter((prefix) => prefix !== 'webhook')
  }

  /** Reads host names and IP addresses, each with or without a port. */
  hosts(name: string): string[] {
    const hosts = this.list(name, '').map((host) => host.toLowerCase())
    const wrong = hosts.find(
      (host) => !/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`),
    )
    if (wrong !== undefined) {
      this.#problems.push(
        `STENO_${name} must hold hosts such as stt.example or [::1]:7070: ${wrong} is not one`,
      )
    }
    return hosts
  }

  /** Reads origins of web pages; `*` stands for all. */
  origins(name: string): string[] {
    const origins = this.list(name, '')
    if (origins.some((origin) => origin !== '*' && !isOrigin(origin))) {
      this.#problems.push(`STENO_${name} must be origins such as https://app.example.com, or *`)
    }
    return origins
  }

  /** Reads language codes, as requests write them: `yue`, without a region. */
  languageCodes(name: string): string[] {
    const codes = this.list(name, '')
    const wrong = codes.find((code) => !/^[a-z]{2,8}$/.test(code))
    if (wrong !== undefined) {
      this.#problems.push(`STENO_${name} must hold language codes such as yue: ${wrong} is not one`)
    }
    return codes
  }

  /** Reads a secret that a header carries; undefined without one. */
  bearerToken(name: string): string | undefined {
    const value = this.text(name, '')
    if (!/^[!-~]*$/.test(value)) {
      this.#problems.push(`STENO_${name} must be visible ASCII characters`)
    }
    return value || undefined
  }

  /** Reads the address of a server whose key is a setting of its own. */
  serviceUrl(name: string): string | undefined {
    const url = this.url(name)
    if (url === undefined) return undefined
    const { username, password, search, hash } = new URL(url)
    if (username || password || search || hash) {
      this.#problems.push(`STENO_${name} must have no name, password, query or fragment`)
    }
    return url
  }

  /** Adds a problem if one of `otherNames` is set without `name`. */
  needs(name: string, otherNames: readonly string[]): void {
    if (this.#env[`STENO_${name}`]) return
    const other = otherNames.find((otherName) => this.#env[`STENO_${otherName}`])
    if (other) this.#problems.push(`STENO_${other} needs STENO_${name}`)
  }

  /** Reads entries `account:whsec_…`. */
  secrets(name: string): { account: string; secret: string }[] {
    return this.list(name, '').flatMap((entry) => {
      const [account, secret] = splitOnce(entry, ':')
      if (account && isSigningSecret(secret)) return [{ account, secret }]
      this.#problems.push(
        `STENO_${name} must hold entries account:whsec_ and 24 to 64 bytes in base64`,
      )
      return []
    })
  }

  /** Reads entries `account=https://…`. */
  receivers(name: string): { account: string; url: string }[] {
    return this.list(name, '').flatMap((entry) => {
      const [account, url] = splitOnce(entry, '=')
      const isAddress = URL.canParse(url) && /^https?:\/\/[^#]+$/i.test(url)
      if (account && isAddress) return [{ account, url }]
      this.#problems.push(
        `STENO_${name} must hold entries account=URL, http or https and without a fragment`,
      )
      return []
    })
  }

  map(name: string, targets: readonly string[]): Record<string, string> {
    const entries = splitList(this.text(name, '')).map((entry) => splitOnce(entry, '='))
    if (entries.some(([from, to]) => !from || !targets.includes(to))) {
      this.#problems.push(
        `STENO_${name} must hold entries name=target, targets: ${targets.join(', ')}`,
      )
    }
    return Object.fromEntries(entries)
  }
}

/** Parses a number; returns NaN for no text, which `Number` parses as 0. */
function toNumber(text: string): number {
  return text ? Number(text) : Number.NaN
}

/** Returns whether `entry` is a switch, such as `true` or `all`, instead of a name. */
function isSwitch(entry: string): boolean {
  return /^(true|false|yes|no|on|off|all|none|\*)$/i.test(entry)
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || [])
}

/**
 * Splits at the first `separator` and trims both sides; without one, returns the whole text and ''.
 */
export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
