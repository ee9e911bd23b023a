import type { Word } from '../../transcript/transcript.ts'

/** The steps that change the words of an utterance, in the order in which they run. */
export const transformSteps = ['custom_vocabulary', 'custom_spelling'] as const
/** A step that changes words. */
export type TransformStep = (typeof transformSteps)[number]

/** The add-ons that run on each utterance, or, for the summary, on all of them. */
export const addOnSteps = [
  'named_entity_recognition',
  'sentiment_analysis',
  'summarization',
] as const
/** An add-on that runs in a live session. */
export type AddOnStep = (typeof addOnSteps)[number]

/** The input of a transform: the words of one utterance and their language. */
export type UtteranceWords = { channel: number; language: string; words: readonly Word[] }
