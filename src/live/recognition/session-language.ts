import { chooseRequestedLanguage } from '../../asr/languages/languages.ts'

/** `language_config` of a session. */
export type LanguageConfig = { languages: readonly string[]; code_switching: boolean }

/** The language of a session, shared by all its channels. */
export type SessionLanguage = {
  /** The language to recognize in; undefined leaves it to the recognizer. */
  readonly current: string | undefined
  /** The language reported for an utterance without words. */
  readonly fallback: string
  /** Records the language in which words were recognized; an unclear one decides nothing. */
  recognized(language: string, options?: { isUnclear?: boolean }): void
  /** The decided language, for a session that resumes this one. */
  readonly decided: string | null
}

/**
 * Creates the language of a session. A single language that is configured and installed is used as
 * it is. Otherwise the first words decide for the rest of the session, unless languages may change
 * from utterance to utterance.
 */
export function createSessionLanguage(
  { languages, code_switching }: LanguageConfig,
  { installed, decided: earlier = null }: { installed: readonly string[]; decided?: string | null },
): SessionLanguage {
  // The installed models may differ from those of the process that decided.
  let decided = earlier !== null && installed.includes(earlier) ? earlier : null
  const fixed = chooseRequestedLanguage(languages, installed)
  return {
    get current() {
      return fixed ?? decided ?? undefined
    },
    get fallback() {
      return fixed ?? decided ?? languages[0] ?? installed[0]!
    },
    get decided() {
      return decided
    },
    recognized(language, { isUnclear = false } = {}) {
      if (!code_switching && !isUnclear) decided ??= language
    },
  }
}
