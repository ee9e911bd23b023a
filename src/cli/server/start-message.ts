import { fileURLToPath } from 'node:url'
import type { Config } from '../../config/config.ts'
import { commandName, isPackage } from '../../config/installation.ts'

/** A recording that ships with the project, for a first try. */
export const SAMPLE = fileURLToPath(
  new URL(isPackage ? 'sample.flac' : '../../../test/fixtures/jfk.flac', import.meta.url),
)

type StartMessage = {
  url: string
  key: string | undefined
  /** The secret of a link that signs a browser in once; present with a first key. */
  link?: string | undefined
  config: Config
  platform?: NodeJS.Platform
}

/**
 * Returns the text that `steno serve` prints once it listens: the address, the key or how to get
 * one, and a first request.
 */
export function formatStartMessage(message: StartMessage): string {
  const { url, key, link, config, platform = process.platform } = message
  return `Steno listens on ${url}

${describeKey(key, config)}

${describeLink(url, link)}

The documentation is at ${url}/guide

${firstTry({ url, key, config, platform })}
`
}

/**
 * Returns a first request for the shell; on Windows, which has no POSIX shell, the page with
 * requests for all shells.
 */
function firstTry({ url, key, config, platform }: Required<Omit<StartMessage, 'link'>>): string {
  if (platform === 'win32') return `Requests to try are at ${url}/docs`
  const header = config.http.authHeaderNames[0]!
  const request = firstRequest({ url, header, key: keyExpression(key, config) })
  return `To try it, paste this into a shell:\n\n${request}`
}

function describeLink(url: string, link: string | undefined): string {
  if (link === undefined)
    return 'In a browser, this address shows the dashboard; sign in with a key.'
  return `To sign in with a browser, open this link; it works once, within a day:\n${url}/#/sign-in/${link}`
}

function describeKey(key: string | undefined, config: Config): string {
  if (key !== undefined) return `Your key, shown only once: ${key}`
  if (config.keys.length > 0) return 'The keys are those in STENO_API_KEYS.'
  return `The keys were shown when they were created. If all are lost, '${commandName} keys create' creates another.`
}

/** Returns the key as a shell expression, without a configured key: output may end up in a log. */
function keyExpression(key: string | undefined, config: Config): string {
  if (key !== undefined) return key
  if (config.keys.length > 0) return '$(printf %s "$STENO_API_KEYS" | sed "s/^[^:]*://; s/,.*//")'
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
  return '${STENO_KEY:?set STENO_KEY to your key}'
}

/**
 * Returns a script that uploads the sample, creates a job, waits for it and prints the transcript,
 * for any POSIX shell with curl and sed. It sets the variables that the samples of the
 * documentation and the commands read.
 */
function firstRequest({ url, header, key }: { url: string; header: string; key: string }): string {
  const get = (name: string) => `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`
  return `export STENO_KEY="${key}"
export STENO_URL=${quote(url)}
AUDIO=$(curl -sS -H "${header}: $STENO_KEY" -F ${quote(`audio=@"${SAMPLE.replace(/["\\]/g, '\\$&')}"`)} "$STENO_URL/v2/upload" | ${get('audio_url')})
JOB=$(curl -sS -H "${header}: $STENO_KEY" -H 'content-type: application/json' \\
  -d "{\\"audio_url\\":\\"$AUDIO\\"}" "$STENO_URL/v2/pre-recorded" | ${get('result_url')})
while ANSWER=$(curl -sS -H "${header}: $STENO_KEY" "$JOB"); do
  case $ANSWER in *'"status":"queued"'*|*'"status":"processing"'*) sleep 1;; *) break;; esac
done
printf '%s\\n' "$ANSWER" | ${get('full_transcript')}`
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
