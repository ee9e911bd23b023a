import { vocabularyFromPrompt } from './prompt-vocabulary.ts'

/**
 * Returns the settings of a job for the languages that a client names; nothing if it names none.
 * Speech in several of them may be mixed.
 */
export function languageSettings(names: readonly string[]) {
  const codes = names.map((name) => name.trim().toLowerCase()).filter((code) => code !== '')
  const languages = [...new Set(codes)]
  if (languages.length === 0) return {}
  return { language_config: { languages, code_switching: languages.length > 1 } }
}

/** Returns the settings of a job for keywords and the names in a prompt; nothing without any. */
export function vocabularySettings({
  keywords,
  prompt = '',
}: {
  keywords: readonly string[]
  prompt: string | undefined
}) {
  const given = keywords.map((keyword) => keyword.trim()).filter((keyword) => keyword !== '')
  const vocabulary = [...new Set([...given, ...vocabularyFromPrompt(prompt)])]
  if (vocabulary.length === 0) return {}
  return { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } }
}
