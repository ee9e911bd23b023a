import { isIP } from 'node:net'
import type { Config } from '../../../config/config.ts'

/** A setting that gives others easier access than an operator may expect. */
export type Exposure = { text: string; remedy: string }

/**
 * The minimum length of a configured key: shorter ones can be guessed; generated ones have 43
 * characters after their prefix.
 */
const MIN_KEY = 16

/** Returns the exposures that the start and `doctor` warn of. Their texts contain no key. */
export function findExposures(config: Config): Exposure[] {
  return [...weakKeys(config), ...plainHttp(config)]
}

function weakKeys({ keys }: Pick<Config, 'keys'>): Exposure[] {
  return keys.flatMap(({ account, key }, i) => {
    const problem = weaknessOf(key, account)
    if (problem === undefined) return []
    const text = `key ${i + 1} of STENO_API_KEYS, of the account ${account}, ${problem}`
    return [{ text, remedy: "create one with 'steno keys create', or with 'openssl rand -hex 32'" }]
  })
}

function weaknessOf(key: string, account: string): string | undefined {
  if (key.toLowerCase() === account.toLowerCase()) return 'is the name of the account'
  if (key.length < MIN_KEY) return `has fewer than ${MIN_KEY} characters`
  return new Set(key).size < MIN_KEY / 2 ? 'repeats a few characters' : undefined
}

function plainHttp({ http }: Pick<Config, 'http'>): Exposure[] {
  const { host, publicBaseUrl, trustProxy } = http
  if (isLoopback(host) || trustProxy || publicBaseUrl?.startsWith('https:')) return []
  const text = `STENO_HOST ${host} is reached from other machines over plain HTTP: keys are sent unencrypted`
  const remedy =
    'put a TLS proxy in front of it, and set STENO_PUBLIC_BASE_URL to its https address'
  return [{ text, remedy }]
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
