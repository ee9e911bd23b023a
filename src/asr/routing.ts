import { AppError } from '../errors.ts'
import { chooseLanguage } from './languages.ts'
import type { RecognitionRequest } from './recognition-request.ts'
import type { RecognitionSettings, RecognizerCapabilities, RecognizerInfo } from './recognizer.ts'

/** The recognizers that the workers have loaded, best first. */
export type AvailableRecognizers = {
  /** For recordings and final utterances. */
  finals: readonly RecognizerInfo[]
  /** For open utterances: small and fast. */
  partials: readonly RecognizerInfo[]
}

/** How a request is recognized. Plain data. */
export type RecognitionRoute = {
  /** For recordings and final utterances. */
  finals: RecognitionSettings
  /** For open utterances. */
  partials: RecognitionSettings
  /** For the customer: the options that cannot be honored. */
  warnings: readonly string[]
}

/** Returns the languages that some recognizer of final text knows, best first. */
export function languagesOf({ finals }: AvailableRecognizers): readonly string[] {
  return [...new Set(finals.flatMap(({ capabilities }) => capabilities.languages))]
}

/** Returns what a recognizer can do; throws `engine_unavailable` when there is no such. */
export function capabilitiesOf(
  model: string,
  { finals }: AvailableRecognizers,
): RecognizerCapabilities {
  const found = finals.find(({ id }) => id === model)
  if (!found) throw new AppError('engine_unavailable', `there is no model ${model}`)
  return found.capabilities
}

/**
 * Chooses one recognizer for a request, whatever model it names: the one that knows most of its
 * languages, of equals the first. Throws `language_not_installed` when none knows any.
 *
 * A vocabulary goes to recognizers that use one. It is no reason for a warning where they do not:
 * `custom_vocabulary` is applied to the recognized text in any case.
 */
export function routeRecognition(
  request: RecognitionRequest,
  available: AvailableRecognizers,
): RecognitionRoute {
  const installed = languagesOf(available)
  const { languages } = request
  chooseLanguage(languages, installed)
  const usable = languages.length > 0 ? languages.filter(isIn(installed)) : installed
  const final = chooseRecognizer(available.finals, usable)!
  const spoken = usable.filter(isIn(final.capabilities.languages))
  const partial = chooseRecognizer(available.partials, spoken) ?? final
  const settingsFor = ({ id, capabilities }: RecognizerInfo): RecognitionSettings => {
    const known = spoken.filter(isIn(capabilities.languages))
    const vocabulary = capabilities.vocabulary ? request.vocabulary : []
    const language = known.length === 1 ? known[0] : undefined
    return { model: id, language, languages: known, vocabulary }
  }
  return {
    finals: settingsFor(final),
    partials: settingsFor(partial),
    warnings: warningsOf(request, final),
  }
}

/** Returns the recognizer that knows most of the languages; undefined when none knows any. */
function chooseRecognizer(
  recognizers: readonly RecognizerInfo[],
  languages: readonly string[],
): RecognizerInfo | undefined {
  let [best, most] = [undefined as RecognizerInfo | undefined, 0]
  for (const recognizer of recognizers) {
    const known = languages.filter(isIn(recognizer.capabilities.languages)).length
    if (known > most) [best, most] = [recognizer, known]
  }
  return best
}

function warningsOf(
  { languages, codeSwitching }: RecognitionRequest,
  { id, capabilities }: RecognizerInfo,
): string[] {
  const unknown = languages.filter((code) => !capabilities.languages.includes(code))
  const warnings: string[] = []
  if (unknown.length > 0) {
    warnings.push(`language_config: ${id} does not know ${unknown.join(', ')}, left out`)
  } else if (codeSwitching && languages.length !== 1 && capabilities.languages.length === 1) {
    const [only] = capabilities.languages
    warnings.push(`language_config: ${id} knows ${only} alone, code_switching has no effect`)
  }
  if (!capabilities.wordTimes)
    warnings.push(`${id} does not measure word times: they are estimates`)
  return warnings
}

function isIn(codes: readonly string[]): (code: string) => boolean {
  return (code) => codes.includes(code)
}
