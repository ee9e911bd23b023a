import type { ServerCapabilities } from '../server/client.ts'
import { sanitize } from '../terminal/sanitize-terminal.ts'

/**
 * Throws an error if a server would refuse the language of a job after the upload, because neither
 * an installed model nor one that it could install knows it. Older servers do not report that.
 */
export async function checkLanguage(
  params: Readonly<Record<string, unknown>>,
  capabilitiesOf: () => Promise<ServerCapabilities>,
): Promise<void> {
  const { languages: [requested] = [] } = (params.language_config ?? {}) as {
    languages?: readonly string[]
  }
  if (requested === undefined) return
  // What prevents the answer also prevents the upload, which reports it.
  const { recognition, models } = await capabilitiesOf().catch((): ServerCapabilities => ({}))
  if (!recognition) return
  const { canonicalLanguage } = await import('../../api/schemas/models/language-codes.ts')
  const others = [...(models?.installed ?? []), ...(models?.available ?? [])]
  const known = [...recognition.languages, ...others.flatMap(({ languages }) => languages)]
  if (known.includes(canonicalLanguage(requested, known))) return
  const supported = recognition.languages.join(', ')
  throw new Error(
    `Cannot transcribe the language ${sanitize(requested)}: the server supports ${supported}`,
  )
}
