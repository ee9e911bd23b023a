import type { AddOn } from './add-on.ts'
import { chapters } from './chapters.ts'
import { displayMode } from './display-mode.ts'
import { languages as entityLanguages, findNamedEntities } from './entities.ts'
import { moderate, languages as moderationLanguages } from './moderation.ts'
import { sentences } from './sentences.ts'
import { sentiment, languages as sentimentLanguages } from './sentiment.ts'
import { type SubtitlesConfig, subtitles } from './subtitles.ts'
import { type SummaryType, summarize } from './summarization.ts'

/** The add-ons that need no service, in the order of the result. */
export const localAddOns: readonly AddOn[] = [
  {
    name: 'summarization',
    languages: 'all',
    compute(transcript, params) {
      const { type } = (params.summarization_config ?? {}) as { type?: SummaryType }
      const summary = summarize(transcript, type)
      return { results: summary, isEmpty: summary === '' }
    },
  },
  {
    name: 'named_entity_recognition',
    languages: entityLanguages,
    compute(transcript) {
      const entities = findNamedEntities(transcript)
      return { results: entities, isEmpty: entities.length === 0 }
    },
  },
  {
    name: 'sentiment_analysis',
    languages: sentimentLanguages,
    compute(transcript, _params, { format }) {
      const sentimentResult = sentiment(transcript)
      // The API defines this field as the JSON text of an array.
      const results = format === 'native' ? sentimentResult : JSON.stringify(sentimentResult)
      return { results, isEmpty: sentimentResult.length === 0 }
    },
  },
  sentences,
  {
    name: 'moderation',
    languages: moderationLanguages,
    compute(transcript) {
      const moderationResult = moderate(transcript)
      return { results: JSON.stringify(moderationResult), isEmpty: !moderationResult.flagged }
    },
  },
  displayMode,
  chapters,
  {
    name: 'subtitles',
    languages: 'all',
    compute(transcript, params) {
      const config = params.subtitles_config as SubtitlesConfig | undefined
      const isEmpty = transcript.utterances.length === 0
      return { results: subtitles(transcript, config), isEmpty }
    },
  },
]
