import { languages as entityLanguages } from '../entities/entity-types.ts'
import { type PiiRedactionConfig, redact } from '../redaction/redaction.ts'
import { nameConsistency } from '../service-add-ons/name-consistency.ts'
import { createVocabulary } from '../vocabulary/custom-vocabulary.ts'
import type { CustomVocabularyConfig } from '../vocabulary/entries.ts'
import type { SessionReplacer } from '../words/growth-budget.ts'
import {
  formatNumbers,
  type NumberFormattingConfig,
  languages as numberLanguages,
} from '../words/numbers/format-numbers.ts'
import { enhancePunctuation } from '../words/sentences/punctuation.ts'
import { languages as fillerLanguages, removeFillers } from './fillers.ts'
import { maskProfanity, languages as profanityLanguages } from './profanity.ts'
import { type CustomSpellingConfig, createSpelling } from './spelling.ts'
import type { TranscriptTransform } from './transform.ts'

/** The steps that may change a transcript before any add-on runs on it, in order. */
export const transforms: readonly TranscriptTransform[] = [
  withConfig<CustomVocabularyConfig>('custom_vocabulary', createVocabulary),
  withConfig<CustomSpellingConfig>('custom_spelling', createSpelling),
  {
    name: 'punctuation_enhanced',
    languages: 'all',
    apply: (transcript) => ({ transcript: enhancePunctuation(transcript) }),
  },
  nameConsistency,
  {
    // Redaction reads the words as they were recognized. Later steps change only the style of the
    // words, so they never see redacted ones.
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
 * Creates a transform whose configuration is a parameter of its own. Without a configuration it
 * changes nothing.
 */
function withConfig<C>(name: string, create: (config: C) => SessionReplacer): TranscriptTransform {
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
