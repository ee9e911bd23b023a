import type { ServerCapabilities } from '../client/client.ts'
import { sanitize } from '../terminal/sanitize.ts'

/**
 * Throws an error if the server would refuse the language of a job after the upload, because
 * neither an installed model nor one that it could install supports it. Older servers do not report
 * their languages.
 */
export async function checkLanguage(
  params: Readonly<Record<string, unknown>>,
  getCapabilities: () => Promise<ServerCapabilities>,
): Promise<void> {
  const { languages: [requested] = [] } = (params.language_config ?? {}) as {
    languages?: readonly string[]
  }
  if (requested === undefined) return
  // If this request fails, so does the upload, which reports the error.
  const { recognition, models } = await getCapabilities().catch((): ServerCapabilities => ({}))
  if (!recognition) return
  const { canonicalLanguage } = await import('../../api/schemas/models/language-codes.ts')
  const otherModels = [...(models?.installed ?? []), ...(models?.available ?? [])]
  const supportedLanguages = [
    ...recognition.languages,
    ...otherModels.flatMap(({ languages }) => languages),
  ]
  if (supportedLanguages.includes(canonicalLanguage(requested, supportedLanguages))) return
  const supported = recognition.languages.join(', ')
  throw new Error(
    `Cannot transcribe the language ${sanitize(requested)}: the server supports ${supported}`,
  )
}
