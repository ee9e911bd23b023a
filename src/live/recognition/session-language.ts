import { chooseLanguage } from '../../asr/languages.ts'

/** `language_config` of a session. */
export type LanguageConfig = { languages: readonly string[]; code_switching: boolean }

/** The language of a session, of all its channels together (contract 5.8). */
export type SessionLanguage = {
  /** To be recognised in; undefined leaves it to the recognizer. */
  readonly current: string | undefined
  /** What an utterance without words is said to be in. */
  readonly fallback: string
  /** Takes note of the language in which words were heard. */
  heard(language: string): void
  /** What was decided, to be given to a session that goes on with this one. */
  readonly decided: string | null
}

/**
 * One language that is configured and installed is used as it is. Else the first words decide for the
 * rest of the session, unless languages may change from utterance to utterance.
 */
export function createSessionLanguage(
  { languages, code_switching }: LanguageConfig,
  { installed, decided = null }: { installed: readonly string[]; decided?: string | null },
): SessionLanguage {
  const fixed = chooseLanguage(languages, installed)
  return {
    get current() {
      return fixed ?? decided ?? undefined
    },
    get fallback() {
      return fixed ?? decided ?? languages[0] ?? 'en'
    },
    get decided() {
      return decided
    },
    heard(language) {
      if (!code_switching) decided ??= language
    },
  }
}
