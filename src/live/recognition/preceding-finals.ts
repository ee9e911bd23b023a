import type { FinalResult } from '../../asr/live-engine/live-engine.ts'
import type { LastWord } from './endpointing/adjacent-utterances.ts'

/**
 * What the finals of a channel say about the next one. They are recognized in parallel, so what a
 * final needs to know of those before it is a promise.
 */
export class PrecedingFinals {
  #words: Promise<readonly LastWord[]>
  #language: Promise<string | null>
  #clearLanguage: Promise<string | null> = Promise.resolve(null)

  /** Starts after an utterance that ended with `lastWord`, in `language`. */
  constructor({ lastWord, language }: { lastWord: LastWord | null; language: string | null }) {
    this.#words = Promise.resolve(lastWord ? [lastWord] : [])
    this.#language = Promise.resolve(language)
  }

  /** The words of the last ended utterance with words. */
  get words(): Promise<readonly LastWord[]> {
    return this.#words
  }

  /** The language of the last ended utterance with words. */
  get language(): Promise<string | null> {
    return this.#language
  }

  /** The first clearly identified language; it applies to all utterances unless it may change. */
  get clearLanguage(): Promise<string | null> {
    return this.#clearLanguage
  }

  /** Adds the final of the utterance that ended last; one that fails says nothing. */
  add(final: Promise<FinalResult>): void {
    const [wordsBefore, languageBefore] = [this.#words, this.#language]
    this.#words = final.then(
      ({ words }) => (words.length > 0 ? words : wordsBefore),
      () => wordsBefore,
    )
    this.#language = final.then(
      ({ words, language }) => (words.length > 0 ? language : languageBefore),
      () => languageBefore,
    )
    const clearLanguageBefore = this.#clearLanguage
    this.#clearLanguage = Promise.all([clearLanguageBefore, final]).then(
      ([clear, { words, language, isLanguageUnclear }]) => {
        return clear ?? (words.length > 0 && !isLanguageUnclear ? language : null)
      },
      () => clearLanguageBefore,
    )
  }
}
