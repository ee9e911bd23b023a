const SECRET = /KEY|TOKEN|SECRET|PASSWORD|WEBHOOKS/
const HIDDEN = '(hidden)'
const MAX_CHARS = 500

/**
 * Returns those of the variables in `names` that are set, as they may be shown: without secrets,
 * and of addresses only the protocol and the host.
 */
export function shownSettings(
  env: Record<string, string | undefined>,
  names: readonly string[],
): Record<string, string> {
  const presentVariables = names.flatMap((name) => {
    const value = env[name]
    return value ? [[name, shown(name, value)]] : []
  })
  return Object.fromEntries(presentVariables) as Record<string, string>
}

function shown(name: string, value: string): string {
  if (SECRET.test(name)) return HIDDEN
  if (!value.includes('://')) return value.slice(0, MAX_CHARS)
  const hosts = value.split(',').map((part) => {
    const { protocol, host } = (part.includes('://') && URL.parse(part.trim())) || {}
    return host ? `${protocol}//${host}` : HIDDEN
  })
  return hosts.join()
}
