import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { splitSentences } from '../words/sentences/sentences.ts'
import { foldForLists, listPattern } from './moderation/list-patterns.ts'
import { MASKED, SELF_HARM, THREATS } from './moderation/patterns.ts'

/** The categories of moderation, in the order of the result. */
export const moderationCategories = ['profanity', 'slur', 'threat', 'self_harm'] as const

/** One of the four categories. */
export type ModerationCategory = (typeof moderationCategories)[number]

/** A sentence that a publisher may not want to show. Times are seconds. */
export type ModerationItem = {
  text: string
  category: ModerationCategory
  start: number
  end: number
  channel: number
}

/** The results; `categories` counts the flagged sentences of each. */
export type Moderation = {
  flagged: boolean
  categories: Record<ModerationCategory, number>
  items: ModerationItem[]
}

/** Word lists and patterns are English. */
export const languages: readonly string[] = ['en']

/**
 * Finds the sentences of an English transcript with swear words, slurs, threats or self-harm, in
 * time order, with one item for each category of a sentence. It works by lists and patterns, so
 * irony and quotations are flagged too.
 */
export function moderate(transcript: Transcript): Moderation {
  const sentences = splitSentences(transcript)
    .filter(({ language }) => languages.includes(language))
    .map((sentence) => ({ ...sentence, categories: categoriesOf(sentence.text) }))
  return writeModeration(sentences)
}

type CategorizedSentence = Pick<ModerationItem, 'text' | 'start' | 'end' | 'channel'> & {
  categories: readonly ModerationCategory[]
}

/** Writes the results: one item for each category of each sentence. */
export function writeModeration(sentences: readonly CategorizedSentence[]): Moderation {
  const items = sentences.flatMap(({ text, start, end, channel, categories }) => {
    const times = { start: roundTo(start, 3), end: roundTo(end, 3) }
    return categories.map((category) => ({ text, category, ...times, channel }))
  })
  const counted = moderationCategories.map((category) => {
    return [category, items.filter((item) => item.category === category).length]
  })
  return { flagged: items.length > 0, categories: Object.fromEntries(counted), items }
}

/** Returns the categories that an English text is flagged for, in their order. */
export function categoriesOf(text: string): ModerationCategory[] {
  const folded = foldForLists(text)
  const foundCategories: Record<ModerationCategory, boolean> = {
    profanity: listPattern('profanity').test(folded) || MASKED.test(folded),
    slur: listPattern('slurs').test(folded),
    threat: THREATS.some((pattern) => pattern.test(folded)),
    self_harm: SELF_HARM.some((pattern) => pattern.test(folded)),
  }
  return moderationCategories.filter((category) => foundCategories[category])
}
