import type { RecognitionSettings } from '../engines/recognizer.ts'
import { isClear } from '../languages/identify-languages.ts'
import type { LanguageIdentification } from '../model-selection/select-models.ts'
import type { IdentifyTask, LanguageSpan } from '../speech-engine.ts'
import type { FinalResult, LiveUtterance } from './live-engine.ts'

/** How to identify the language of an utterance, and the language of the utterance before it. */
export type IdentifyUtteranceOptions = {
  identify(task: IdentifyTask): Promise<LanguageSpan[][]>
  languageBefore?: (() => Promise<string | null>) | undefined
}

/** The settings of the utterance's language, and the fields about it in the final. */
export type IdentifiedUtterance = {
  settings: RecognitionSettings
  resultFields: Pick<FinalResult, 'languageConfidence' | 'isLanguageUnclear'>
}

/**
 * Identifies the language of an utterance that has ended. Where that is unclear, it takes that of
 * the utterance before; where there is none, the most probable one.
 */
export async function identifyUtterance(
  { path, segment }: LiveUtterance,
  { model, languages }: LanguageIdentification,
  { identify, languageBefore }: IdentifyUtteranceOptions,
): Promise<IdentifiedUtterance> {
  const codes = languages.map(({ language }) => language)
  const segments = [segment]
  const task = { path, segments, model, languages: codes, isMixed: false }
  const span = (await identify(task))[0]![0]!
  const isUnclear = !isClear(span)
  const best = span.probabilities[0]?.language
  const language = (isUnclear ? await languageBefore?.() : undefined) ?? best
  const chosen = span.probabilities.find((one) => one.language === language)
  const { finals } = languages.find((one) => one.language === language) ?? languages[0]!
  const identifiedLanguage = {
    languageConfidence: chosen?.probability ?? 0,
    ...(isUnclear && { isLanguageUnclear: true as const }),
  }
  return { settings: finals, resultFields: identifiedLanguage }
}
