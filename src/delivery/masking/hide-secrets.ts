/** Names of headers whose values must not appear in a log: credentials, sessions, signatures. */
const SECRET = /auth|credential|cookie|token|secret|passw|signature|key|session|jwt|[cx]srf/i
/** Shorter secrets are not hidden: they occur in any text, and are easy to guess. */
const MIN_LENGTH = 4

/** The replacement for a secret. */
const HIDDEN = '[hidden]'

/**
 * Returns headers for the delivery log: hides the values of secret headers, and `secrets` in all
 * others.
 */
export function hideSecrets(
  headers: Record<string, string>,
  secrets: readonly string[] = [],
): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => {
    return [name, SECRET.test(name) ? HIDDEN : hideIn(value, secrets)]
  })
  return Object.fromEntries(shown)
}

/**
 * Hides secrets in a text that a receiver returns, verbatim or encoded as in JSON or URLs, and the
 * beginning of a secret at the end of the text. Secrets in other encodings are not found.
 */
export function hideIn(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter(({ length }) => length >= MIN_LENGTH).flatMap(formsOf)
  const longestFirst = forms.toSorted((a, b) => b.length - a.length)
  const hidden = longestFirst.reduce(
    (visibleText, form) => visibleText.replaceAll(form, () => HIDDEN),
    text,
  )
  const ends = longestFirst.map((form) => overlapLength(hidden, form))
  const end = Math.max(0, ...ends)
  return end >= MIN_LENGTH ? hidden.slice(0, -end) + HIDDEN : hidden
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret.toWellFormed())]
}

/** Returns the length of the longest beginning of `secret` that a text ends with. */
function overlapLength(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1)
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--
  return length
}
