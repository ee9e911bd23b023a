/** Names of headers that hold what must not appear in a log: credentials, sessions, signatures. */
const SECRET = /auth|credential|cookie|token|secret|passw|signature|key|session|jwt|[cx]srf/i
/** Shorter ones are hidden nowhere: they occur in any text, and are as easy to guess. */
const MIN_LENGTH = 4

/** The replacement for a secret. */
const HIDDEN = '[hidden]'

/**
 * Returns headers as the delivery log may show them: hides secret headers whole, `secrets` in
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
 * Hides secrets in what a receiver sends back, verbatim or as JSON and URLs encode them, including
 * the beginning of one at the end of the text. Secrets encoded in other ways are not found.
 */
export function hideIn(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter(({ length }) => length >= MIN_LENGTH).flatMap(formsOf)
  const longestFirst = forms.toSorted((a, b) => b.length - a.length)
  const hidden = longestFirst.reduce(
    (visibleText, form) => visibleText.replaceAll(form, () => HIDDEN),
    text,
  )
  const ends = longestFirst.map((form) => overlap(hidden, form))
  const end = Math.max(0, ...ends)
  return end >= MIN_LENGTH ? hidden.slice(0, -end) + HIDDEN : hidden
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret.toWellFormed())]
}

/** Returns how much of the beginning of `secret` a text ends with. */
function overlap(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1)
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--
  return length
}
