import type { Transcript } from '../transcript/transcript.ts'
import { knownUtterances } from './add-on.ts'
import type { Transform } from './compose.ts'
import { makeNamesConsistent, languages as nameLanguages, writeNameChanges } from './names.ts'
import { enhancePunctuation } from './punctuation.ts'
import { applySpelling, type CustomSpellingConfig } from './spelling.ts'
import type { CustomVocabularyConfig } from './vocabulary/entries.ts'
import { applyVocabulary } from './vocabulary/vocabulary.ts'

/** What may change a transcript before anything is made of it, in this order. */
export const transforms: readonly Transform[] = [
  withConfig<CustomVocabularyConfig>('custom_vocabulary', applyVocabulary),
  withConfig<CustomSpellingConfig>('custom_spelling', applySpelling),
  {
    name: 'punctuation_enhanced',
    apply: (transcript) => ({ transcript: enhancePunctuation(transcript) }),
  },
  {
    name: 'name_consistency',
    tells: true,
    apply(transcript) {
      knownUtterances({ name: 'name_consistency', languages: nameLanguages }, transcript)
      const { transcript: changed, changes } = makeNamesConsistent(transcript)
      const results = writeNameChanges(changes)
      return { transcript: changed, made: { results, isEmpty: changes.length === 0 } }
    },
  },
]

/** A transform whose configuration lies beside its switch; without one it does nothing. */
function withConfig<C>(
  name: string,
  apply: (transcript: Transcript, config: C) => Transcript,
): Transform {
  return {
    name,
    apply(transcript, params) {
      const config = params[`${name}_config`] as C | undefined
      return { transcript: config ? apply(transcript, config) : transcript }
    },
  }
}
