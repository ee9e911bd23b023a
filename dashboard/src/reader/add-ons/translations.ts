import { useMemo } from 'preact/hooks'
import type { Job } from '../../api/api.ts'
import type { ShownUtterance } from '../editing/edits.ts'

/** What stands beside an utterance; undefined where there is nothing. */
export type TranslationOf = (utterance: ShownUtterance) => string | undefined

type Translated = { start: number; text: string }

/** The languages into which a job was translated. */
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
    // Of an utterance that a correction has cut, the first part has it.
    return ({ source }) => (source.from === 0 ? texts[source.utterance] : undefined)
  }, [job, language])
}

/** A translator may join utterances and cut them: each text goes where its speech begins. */
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
