import { AppError } from '../../errors.ts'
import type { CatalogModel } from '../../models/catalog.ts'
import { suggestModel } from '../../models/recommend.ts'

/**
 * Returns the language to recognize a recording in, out of those that the client listed and some
 * installed model supports; undefined leaves the choice among several to the engine.
 */
export function chooseRequestedLanguage(
  listed: readonly string[],
  installed: readonly string[],
  suggest: (languages: readonly string[]) => CatalogModel | undefined = suggestModel,
): string | undefined {
  const supported =
    listed.length > 0 ? listed.filter((code) => installed.includes(code)) : installed
  if (supported.length === 0) {
    const languageText = listed.join(', ') || 'any language'
    const remedy = remedyFor(listed, suggest(listed))
    const detail = `no installed model supports ${languageText}; installed: ${installed.join(', ')}; ${remedy}`
    const line = `language_config.languages must name a language of an installed model: ${detail}`
    throw new AppError('language_not_installed', detail, {
      ...(listed.length > 0 && { validationErrors: [line] }),
    })
  }
  return supported.length === 1 ? supported[0] : undefined
}

function remedyFor(listed: readonly string[], model: CatalogModel | undefined): string {
  if (model) {
    return `'steno models pull ${model.id}' installs one that does, 'steno setup' shows others`
  }
  const smallest = suggestModel(listed, { cores: 1 })
  if (!smallest) return 'no other model does either'
  return `${smallest.id} does, but needs ${smallest.memoryBytes} bytes of STENO_MODEL_MEMORY`
}

/**
 * Returns `language_config.languages` of a request's parameters, which are validated on receipt.
 */
export function listedLanguages(params: Record<string, unknown>): readonly string[] {
  const { language_config } = params as { language_config?: { languages?: readonly string[] } }
  return language_config?.languages ?? []
}
