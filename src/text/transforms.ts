import type { Transcript } from '../transcript/transcript.ts'
import { knownUtterances, type Params } from './add-on.ts'
import { languages as entityLanguages } from './entities/languages.ts'
import type { RedactedSpan } from './redaction/redacted-spans.ts'
import { type PiiRedactionConfig, redact } from './redaction/redaction.ts'
import type { Made } from './result/envelope.ts'

import type { CustomVocabularyConfig } from './vocabulary/entries.ts'
import { createVocabulary } from './vocabulary/vocabulary.ts'
import { languages as fillerLanguages, removeFillers } from './words/fillers.ts'
import type { Replacing } from './words/growth.ts'
import {
  makeNamesConsistent,
  languages as nameLanguages,
  writeNameChanges,
} from './words/name-consistency.ts'
import {
  formatNumbers,
  type NumberFormattingConfig,
  languages as numberLanguages,
} from './words/number-style.ts'
import { maskProfanity, languages as profanityLanguages } from './words/profanity.ts'
import { enhancePunctuation } from './words/punctuation.ts'
import { type CustomSpellingConfig, createSpelling } from './words/spelling.ts'

/** The steps that may change a transcript before any add-on runs on it, in this order. */
export const transforms: readonly Transform[] = [
  withConfig<CustomVocabularyConfig>('custom_vocabulary', createVocabulary),
  withConfig<CustomSpellingConfig>('custom_spelling', createSpelling),
  {
    name: 'punctuation_enhanced',
    languages: 'all',
    apply: (transcript) => ({ transcript: enhancePunctuation(transcript) }),
  },
  {
    name: 'name_consistency',
    languages: nameLanguages,
    reports: true,
    apply(transcript, params) {
      knownUtterances({ name: 'name_consistency', languages: nameLanguages }, transcript)
      const { transcript: changed, changes } = makeNamesConsistent(transcript)
      const results = writeNameChanges(changes, { secret: params.pii_redaction === true })
      return { transcript: changed, made: { results, isEmpty: changes.length === 0 } }
    },
  },
  {
    // Redaction reads the words as they were recognized. Only their style changes after it, so that
    // everything later sees only the words that it leaves.
    name: 'pii_redaction',
    languages: entityLanguages,
    required: true,
    apply: (transcript, { pii_redaction_config: config }) => {
      return redact(transcript, config as PiiRedactionConfig | undefined)
    },
  },
  {
    name: 'number_formatting',
    languages: numberLanguages,
    apply: (transcript, { number_formatting_config: config }) => {
      return { transcript: formatNumbers(transcript, config as NumberFormattingConfig | undefined) }
    },
  },
  {
    name: 'filler_removal',
    languages: fillerLanguages,
    apply: (transcript) => ({ transcript: removeFillers(transcript) }),
  },
  {
    name: 'profanity_filter',
    languages: profanityLanguages,
    apply: (transcript) => ({ transcript: maskProfanity(transcript) }),
  },
]

/**
 * Creates a transform whose configuration lies beside its switch. Without a configuration it does
 * nothing.
 */
function withConfig<C>(name: string, create: (config: C) => Replacing): Transform {
  return {
    name,
    languages: 'all',
    apply(transcript, params) {
      const config = params[`${name}_config`] as C | undefined
      if (!config) return { transcript }
      const { apply, warnings } = create(config)
      return { transcript: apply(transcript), warnings: warnings() }
    },
  }
}

/** A step that changes a transcript before any add-on runs on it. */
export type Transform = {
  /** The switch that requests it. */
  name: string
  /** Languages whose words it changes; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Whether the result reports its changes in an envelope. */
  reports?: boolean
  /** Whether no result may be built without it. Its failure then fails the whole build. */
  required?: boolean
  apply(transcript: Transcript, params: Params): Transformed
}

/**
 * A changed transcript, the report of the changes, and the audio spans to silence, where there are
 * any.
 */
export type Transformed = {
  transcript: Transcript
  made?: Made
  redacted?: RedactedSpan[]
  /** Warnings for the customer, which go into the metadata of the result. */
  warnings?: string[]
}
