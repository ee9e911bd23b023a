import { AppError } from '../errors.ts'
import { type CatalogModel, readCatalog } from '../models/catalog.ts'
import { estimateModel, GOOD_ERRORS } from './model-estimates.ts'

/**
 * Returns the language to recognize a recording in, out of those that the client listed and some
 * installed model supports; undefined leaves the choice among several to the engine. Throws
 * `language_not_installed` with the command that installs one of them.
 */
export function chooseLanguage(
  listed: readonly string[],
  installed: readonly string[],
): string | undefined {
  const usable = listed.length > 0 ? listed.filter((code) => installed.includes(code)) : installed
  if (usable.length === 0) {
    const wanted = listed.join(', ') || 'any language'
    const model = suggestModel(listed, readCatalog())
    const advice = model
      ? `'steno models pull ${model.id}' installs one that does`
      : 'the catalog has none that does'
    const detail = `no installed model knows ${wanted}; installed: ${installed.join(', ')}; ${advice}`
    throw new AppError('language_not_installed', detail)
  }
  return usable.length === 1 ? usable[0] : undefined
}

/**
 * Returns the smallest good model that knows most of the languages; the most accurate where none is
 * good; undefined when none knows any.
 */
export function suggestModel(
  languages: readonly string[],
  catalog: readonly CatalogModel[],
): CatalogModel | undefined {
  const known = (model: CatalogModel) => {
    return model.languages.filter((code) => languages.includes(code)).length
  }
  const candidates = catalog.filter((one) => one.kind === 'recognition' && known(one) > 0)
  const most = Math.max(0, ...candidates.map(known))
  const errorsOf = (model: CatalogModel) => estimateModel(model)?.errors ?? 0
  const best = candidates
    .filter((model) => known(model) === most)
    .toSorted((a, b) => errorsOf(a) - errorsOf(b))
  const good = best.filter((model) => errorsOf(model) <= GOOD_ERRORS)
  return good.toSorted((a, b) => a.memoryBytes - b.memoryBytes)[0] ?? best[0]
}

/**
 * Returns `language_config.languages` of a request's parameters, which are validated on receipt.
 */
export function listedLanguages(params: Record<string, unknown>): readonly string[] {
  const { language_config } = params as { language_config?: { languages?: readonly string[] } }
  return language_config?.languages ?? []
}
