import type { UtteranceView } from '../../transcript/utterance-view.ts'
import type { Envelope } from './steps/envelope.ts'

const START = 'translation into '
const END = ' came back as they were'
/** Shorter utterances, such as names, may be the same in both languages. */
const MIN_WORDS = 4

type TranslatedTexts = { languages: string[]; utterances: UtteranceView[] }

/** Returns the warnings of a result after its translation: small models copy their texts. */
export function renewTranslationWarnings(
  warnings: readonly string[],
  { results }: Envelope,
  spoken: readonly UtteranceView[],
): string[] {
  const otherWarnings = warnings.filter((one) => !(one.startsWith(START) && one.endsWith(END)))
  const languages = new Map(spoken.map(({ text, language }) => [text.trim(), language]))
  const targets: TranslatedTexts[] = Array.isArray(results) ? results : []
  const added = targets.flatMap(({ languages: [target], utterances }) => {
    const copies = utterances.filter(({ text }) => {
      const language = languages.get(text.trim())
      const isLong = text.trim().split(/\s+/).length >= MIN_WORDS
      return isLong && language !== undefined && language !== target
    })
    if (copies.length === 0) return []
    return [`${START}${target}: ${copies.length} of ${utterances.length} utterances${END}`]
  })
  return [...otherWarnings, ...added]
}
