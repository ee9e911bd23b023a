import { listedLanguages } from '../languages/languages.ts'

/** The recognition settings that a client requested. */
export type RecognitionRequest = {
  /** One of `stt-1`, `stt-3` and `stt-fusion`, or the operator's name for one of them. */
  model: string
  /** An empty list stands for all languages. */
  languages: readonly string[]
  /** The language may change from utterance to utterance. */
  codeSwitching: boolean
  /** Words and phrases to prefer. */
  vocabulary: readonly string[]
}

/** The parameters of a job or session that recognition depends on; validated on receipt. */
type Params = {
  model?: string
  language_config?: { code_switching?: boolean }
  custom_vocabulary?: boolean
  custom_vocabulary_config?: { vocabulary?: readonly (string | { value: string })[] }
}

/** Reads the request from the parameters of a job, or from those of a session in one object. */
export function readRecognitionRequest(
  params: Readonly<Record<string, unknown>>,
): RecognitionRequest {
  const { model = 'stt-1', language_config, custom_vocabulary, ...rest } = params as Params
  const entries = rest.custom_vocabulary_config?.vocabulary ?? []
  return {
    model,
    languages: listedLanguages(params),
    codeSwitching: language_config?.code_switching === true,
    vocabulary: custom_vocabulary
      ? entries.map((entry) => (typeof entry === 'string' ? entry : entry.value))
      : [],
  }
}
