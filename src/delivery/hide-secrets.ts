/** Names of headers that hold what must not stand in a log: credentials, sessions, signatures. */
const SECRET =
  /authori[sz]ation|authenticat|cookie|token|secret|password|signature|api-?key|session/i

/** What stands in place of a secret. */
export const HIDDEN = '[hidden]'

/** Headers as the delivery log may show them. */
export function hideSecrets(headers: Record<string, string>): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => {
    return [name, SECRET.test(name) ? HIDDEN : value]
  })
  return Object.fromEntries(shown)
}
