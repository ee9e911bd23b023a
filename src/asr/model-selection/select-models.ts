import { AppError } from '../../errors.ts'
import type { CatalogModel } from '../../models/catalog.ts'
import { suggestModel } from '../../models/recommend.ts'
import type {
  RecognitionSettings,
  RecognizerCapabilities,
  RecognizerInfo,
} from '../engines/recognizer.ts'
import { REMOTE } from '../engines/remote/remote-id.ts'
import { chooseRequestedLanguage } from '../languages/languages.ts'
import { MAX_GOOD_WER } from './model-estimates.ts'
import type { RecognitionRequest } from './recognition-request.ts'

/** The recognizers that can be used, best first. */
export type AvailableRecognizers = {
  /** For recordings and final utterances. */
  finals: readonly RecognizerInfo[]
  /** For open utterances: small and fast. */
  partials: readonly RecognizerInfo[]
}

/** How speech in one language is recognized. */
export type LanguageModels = {
  language: string
  finals: RecognitionSettings
  partials: RecognitionSettings
}

/** How the language of speech is identified, and what then recognizes it. Plain data. */
export type LanguageIdentification = {
  /** The id of the recognizer that identifies. */
  model: string
  /** The languages to choose from, at least two; the first is used before one is known. */
  languages: readonly LanguageModels[]
  /** Whether the language may change from utterance to utterance. */
  perUtterance: boolean
}

/** How a request is recognized. Plain data. */
export type ModelSelection = {
  /** For recordings and final utterances, as long as the language is not identified. */
  finals: RecognitionSettings
  /** For open utterances, likewise. */
  partials: RecognitionSettings
  /** Longest segment that all its recognizers take, in seconds. */
  maxSeconds: number
  /** Present when the language is identified before recognition. */
  identification?: LanguageIdentification
  /** For the user: the options that cannot be honored. */
  warnings: readonly string[]
}

/** Returns the model to install for languages that are missing. */
type Suggest = (languages: readonly string[]) => CatalogModel | undefined

/** The estimate of a model that has none. */
const DEFAULT_ESTIMATE = { wer: 0.1, realTimeFactor: 0.05 }

/** Returns the languages that some recognizer of final text knows, best first. */
export function languagesOf({ finals }: AvailableRecognizers): readonly string[] {
  return [...new Set(finals.flatMap(({ capabilities }) => capabilities.languages))]
}

/** Returns what a recognizer can do; throws `engine_unavailable` for an unknown model. */
export function modelCapabilities(
  model: string,
  { finals }: AvailableRecognizers,
): RecognizerCapabilities {
  const recognizer = finals.find(({ id }) => id === model)
  if (!recognizer) throw new AppError('engine_unavailable', `this server has no model ${model}`)
  return recognizer.capabilities
}

/**
 * Chooses the recognizers of a request. One language: `stt-1` is the fastest good model that knows
 * it, `stt-3` the most accurate, `stt-fusion` the two most accurate, joined. Several languages:
 * each has its own models, if there is one that identifies languages; otherwise the model that
 * knows most of them recognizes all. `remote` is the remote engine alone. Throws
 * `language_not_installed` when none knows any.
 *
 * A vocabulary goes to recognizers that use one. It is no reason for a warning where they do not:
 * `custom_vocabulary` is applied to the recognized text in any case.
 */
export function selectModels(
  request: RecognitionRequest,
  all: AvailableRecognizers,
  suggest: Suggest = suggestModel,
): ModelSelection {
  const available = request.model === REMOTE ? remoteOf(all) : all
  const installed = languagesOf(available)
  const { languages } = request
  chooseRequestedLanguage(languages, installed, suggest)
  const supported = languages.length > 0 ? languages.filter(isIn(installed)) : installed
  const routes = supported.map((language) => selectForLanguage(language, request, available))
  const identifier =
    routes.length > 1 ? chooseIdentifier(available.finals, { supported, routes }) : undefined
  const identifiableLanguages = identifier?.capabilities.languages ?? []
  const identified = routes.filter(({ language }) => identifiableLanguages.includes(language))
  if (identifier && identified.length > 1) {
    const unknown = languages.filter(
      (code) => !identifiableLanguages.includes(code) || !installed.includes(code),
    )
    const warnings = [
      ...(unknown.length > 0
        ? [`language_config: no installed model supports ${unknown.join(', ')}`]
        : []),
      ...warningsOfFusion(request, identified),
    ]
    const perUtterance = request.codeSwitching
    const identification = { model: identifier.id, languages: identified, perUtterance }
    const { finals, partials } = identified[0]!
    const maxSeconds = maxSecondsOf(identified, available)
    return { finals, partials, maxSeconds, identification, warnings }
  }
  if (supported.length === 1) {
    const { finals, partials } = routes[0]!
    const warnings = [
      ...modelWarnings(request, findRecognizer(finals.model, available)),
      ...warningsOfFusion(request, routes),
    ]
    return { finals, partials, maxSeconds: maxSecondsOf(routes, available), warnings }
  }
  return routeToOne(supported, request, available)
}

/**
 * Returns how finals or partials of a route are recognized in a language; undefined = it is not
 * known yet.
 */
export function settingsFor(
  selection: ModelSelection,
  use: 'finals' | 'partials',
  language: string | undefined,
): RecognitionSettings {
  const ofLanguage = selection.identification?.languages.find((one) => one.language === language)
  return ofLanguage
    ? ofLanguage[use]
    : { ...selection[use], language: language ?? selection[use].language }
}

/** Returns the settings for speech in one language, which some recognizer knows. */
function selectForLanguage(
  language: string,
  { model, vocabulary }: RecognitionRequest,
  available: AvailableRecognizers,
): LanguageModels {
  const knowsLanguage = ({ capabilities }: RecognizerInfo) =>
    capabilities.languages.includes(language)
  const candidates = preferred(available.finals.filter(knowsLanguage), model)
  const accurate = candidates.toSorted((a, b) => estimateOf(a).wer - estimateOf(b).wer)
  const final = model === 'stt-1' ? (fastestGood(candidates) ?? accurate[0]!) : accurate[0]!
  const second = model === 'stt-fusion' ? accurate[1] : undefined
  const partial = available.partials.find(knowsLanguage) ?? final
  const use = ({ id, capabilities }: RecognizerInfo): RecognitionSettings => {
    const words = capabilities.vocabulary ? vocabulary : []
    return { model: id, language, languages: [language], vocabulary: words }
  }
  return {
    language,
    finals: { ...use(final), ...(second && { fusedWith: second.id }) },
    partials: use(partial),
  }
}

/** Returns the most accurate recognizer of a language; undefined when there is none. */
export function findMostAccurate(
  language: string,
  { finals }: AvailableRecognizers,
): RecognizerInfo | undefined {
  const ofLanguage = finals.filter(({ capabilities }) => capabilities.languages.includes(language))
  return ofLanguage.toSorted((a, b) => estimateOf(a).wer - estimateOf(b).wer)[0]
}

function remoteOf({ finals, partials }: AvailableRecognizers): AvailableRecognizers {
  return { finals: finals.filter(({ id }) => id === REMOTE), partials }
}

/** Leaves out the recognizers that a model of the API uses only where there are no others. */
function preferred(
  candidates: readonly RecognizerInfo[],
  model: string,
): readonly RecognizerInfo[] {
  const suited = candidates.filter(({ preferredBy }) => {
    return model === REMOTE || (preferredBy?.includes(model) ?? true)
  })
  return suited.length > 0 ? suited : candidates
}

function fastestGood(candidates: readonly RecognizerInfo[]): RecognizerInfo | undefined {
  const good = candidates.filter((recognizer) => estimateOf(recognizer).wer <= MAX_GOOD_WER)
  return good.toSorted((a, b) => estimateOf(a).realTimeFactor - estimateOf(b).realTimeFactor)[0]
}

function estimateOf({ estimate = DEFAULT_ESTIMATE }: RecognizerInfo) {
  return estimate
}

/**
 * Returns the recognizer that identifies most of the languages; of equals one that recognizes some
 * of them anyway, so that no other has to be loaded, then the most accurate.
 */
function chooseIdentifier(
  finals: readonly RecognizerInfo[],
  { supported, routes }: { supported: readonly string[]; routes: readonly LanguageModels[] },
): RecognizerInfo | undefined {
  const used = new Set(routes.map(({ finals }) => finals.model))
  const rank = (recognizer: RecognizerInfo) => [
    -supported.filter(isIn(recognizer.capabilities.languages)).length,
    used.has(recognizer.id) ? 0 : 1,
    estimateOf(recognizer).wer,
  ]
  return finals
    .filter(({ capabilities }) => capabilities.identifiesLanguages)
    .toSorted((a, b) => compareRanks(rank(a), rank(b)))[0]
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const differs = a.findIndex((value, i) => value !== b[i])
  return differs < 0 ? 0 : a[differs]! - b[differs]!
}

/** Without identification: one recognizer for all, the one that knows most of the languages. */
function routeToOne(
  supported: readonly string[],
  request: RecognitionRequest,
  available: AvailableRecognizers,
): ModelSelection {
  const final = chooseRecognizer(available.finals, supported)!
  const spoken = supported.filter(isIn(final.capabilities.languages))
  const partial = chooseRecognizer(available.partials, spoken) ?? final
  const use = ({ id, capabilities }: RecognizerInfo): RecognitionSettings => {
    const supportedLanguages = spoken.filter(isIn(capabilities.languages))
    const vocabulary = capabilities.vocabulary ? request.vocabulary : []
    const language = supportedLanguages.length === 1 ? supportedLanguages[0] : undefined
    return { model: id, language, languages: supportedLanguages, vocabulary }
  }
  return {
    finals: use(final),
    partials: use(partial),
    maxSeconds: final.capabilities.maxSeconds,
    warnings: modelWarnings(request, final),
  }
}

/** Returns the recognizer that knows most of the languages; undefined when none knows any. */
function chooseRecognizer(
  recognizers: readonly RecognizerInfo[],
  languages: readonly string[],
): RecognizerInfo | undefined {
  let [best, max] = [undefined as RecognizerInfo | undefined, 0]
  for (const recognizer of recognizers) {
    const supportedCount = languages.filter(isIn(recognizer.capabilities.languages)).length
    if (supportedCount > max) [best, max] = [recognizer, supportedCount]
  }
  return best
}

function findRecognizer(model: string, { finals }: AvailableRecognizers): RecognizerInfo {
  return finals.find(({ id }) => id === model)!
}

function maxSecondsOf(routes: readonly LanguageModels[], available: AvailableRecognizers): number {
  const models = routes.flatMap(({ finals: { model, fusedWith = model } }) => [model, fusedWith])
  return Math.min(...models.map((id) => modelCapabilities(id, available).maxSeconds))
}

function modelWarnings(
  { languages, codeSwitching }: RecognitionRequest,
  { id, capabilities }: RecognizerInfo,
): string[] {
  const unknown = languages.filter((code) => !capabilities.languages.includes(code))
  const warnings: string[] = []
  if (unknown.length > 0) {
    warnings.push(`language_config: ${id} does not support ${unknown.join(', ')}`)
  } else if (codeSwitching && languages.length !== 1 && capabilities.languages.length === 1) {
    const [only] = capabilities.languages
    warnings.push(`language_config: ${id} supports only ${only}, so code_switching has no effect`)
  }
  if (!capabilities.wordTimes)
    warnings.push(`${id} does not measure word times: they are estimates`)
  return warnings
}

/** `stt-fusion` needs two recognizers of a language. */
function warningsOfFusion(
  { model }: RecognitionRequest,
  routes: readonly LanguageModels[],
): string[] {
  const alone = routes.filter(({ finals }) => finals.fusedWith === undefined)
  if (model !== 'stt-fusion' || alone.length === 0) return []
  const models = [...new Set(alone.map(({ finals }) => finals.model))].join(', ')
  const languages = alone.map(({ language }) => language).join(', ')
  return [`stt-fusion: no second model is installed for ${languages}; ${models} is used alone`]
}

function isIn(codes: readonly string[]): (code: string) => boolean {
  return (code) => codes.includes(code)
}
