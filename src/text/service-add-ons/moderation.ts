import type { Transcript } from '../../transcript/transcript.ts'
import {
  categoriesOf,
  languages as listLanguages,
  type ModerationCategory,
  moderationCategories,
  writeModeration,
} from '../add-ons/moderation.ts'
import { splitSentences } from '../words/sentences/sentences.ts'
import { asLlmResponse, requireOne, responseError } from './responses.ts'
import type { ServiceAddOn } from './service-add-on.ts'

/** The descriptions of the categories, for a model. */
const meanings: Record<ModerationCategory, string> = {
  profanity: 'swear words and obscene language',
  slur: 'words that demean people for their origin, religion, sex or a disability',
  threat: 'announces violence against somebody',
  self_harm: 'somebody hurts or kills themselves, or wants to',
}
/** Maximum sentences of one request. */
const MAX_SENTENCES = 200

type ModerationFlag = { sentence: number; category: ModerationCategory }

/**
 * Moderates with a model, in any language. The findings of the English word lists are added,
 * because a model may miss a word. A part without a response has the findings of the lists alone.
 */
export const moderation: ServiceAddOn = {
  name: 'moderation',
  languages: 'all',
  prepare(transcript) {
    return moderatedSentences(transcript).map((sentences) => ({
      service: 'language model',
      model: 'configured',
      task: 'moderation',
      sentences: sentences.map(({ text }) => text),
      categories: meanings,
    }))
  },
  merge(transcript, _params, responses) {
    const read = responses.map(asLlmResponse)
    requireOne(read)
    const flaggedSentences = moderatedSentences(transcript).flatMap((sentences, part) => {
      const response = read[part]
      const isAnswered = response && !responseError(response)
      const { flags = [] } = (isAnswered ? response : {}) as { flags?: ModerationFlag[] }
      return sentences.map((sentence, i) => {
        const flagged = flags.flatMap((flag) => (flag.sentence === i ? [flag.category] : []))
        const isListed = listLanguages.includes(sentence.language)
        const listed = isListed ? categoriesOf(sentence.text) : []
        const all = moderationCategories.filter((category) =>
          [...flagged, ...listed].includes(category),
        )
        return { ...sentence, categories: all }
      })
    })
    const results = writeModeration(flaggedSentences)
    return { results: JSON.stringify(results), isEmpty: !results.flagged }
  },
}

function moderatedSentences(transcript: Transcript) {
  const sentences = splitSentences(transcript)
  const count = Math.ceil(sentences.length / MAX_SENTENCES)
  return Array.from({ length: count }, (_, i) => {
    return sentences.slice(i * MAX_SENTENCES, (i + 1) * MAX_SENTENCES)
  })
}
