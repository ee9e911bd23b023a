import { useMemo } from 'preact/hooks'
import type { Job } from '../../api/api.ts'
import type { ShownUtterance } from '../editing/edits.ts'

/** Returns the text beside an utterance, or undefined if there is none. */
export type TranslationOf = (utterance: ShownUtterance) => string | undefined

type Translated = { start: number; text: string }

/** Returns the languages into which a job was translated. */
export function translatedLanguages(job: Job): string[] {
  const results = job.result?.translation?.results ?? []
  return results.flatMap(({ languages, error }) => (error ? [] : languages.slice(0, 1)))
}

/** Finds the translation of each utterance, for reading it beside the original. */
export function useTranslation(job: Job | undefined, language: string): TranslationOf | undefined {
  return useMemo(() => {
    const found = job?.result?.translation?.results?.find(({ languages }) => {
      return languages[0] === language
    })
    const originals = job?.result?.transcription.utterances
    if (!found || !originals) return undefined
    const texts = textsOf(originals, found.utterances)
    // If a correction has split an utterance, the first part gets the translation.
    return ({ source }) => (source.from === 0 ? texts[source.utterance] : undefined)
  }, [job, language])
}

/**
 * Assigns translated texts to the original utterances. A translator may join or split utterances,
 * so each text goes to the utterance in which its speech begins.
 */
function textsOf(
  originals: readonly { start: number }[],
  translated: readonly Translated[],
): (string | undefined)[] {
  if (originals.length === translated.length) return translated.map(({ text }) => text.trim())
  const texts: (string | undefined)[] = originals.map(() => undefined)
  let at = 0
  for (const { start, text } of translated) {
    while (at + 1 < originals.length && originals[at + 1]!.start <= start + 0.01) at++
    texts[at] = texts[at] === undefined ? text.trim() : `${texts[at]} ${text.trim()}`
  }
  return texts
}
