import type { Word } from '../../transcript/transcript.ts'

/** What changes the words of an utterance, in this order. */
export const transformSteps = ['custom_vocabulary', 'custom_spelling'] as const
/** One that changes words. */
export type TransformStep = (typeof transformSteps)[number]

/** What is found in what was said: in each utterance, or, for the summary, in all of them. */
export const addOnSteps = [
  'named_entity_recognition',
  'sentiment_analysis',
  'summarization',
] as const
/** One that tells what it found. */
export type AddOnStep = (typeof addOnSteps)[number]

/** What a change works on: the words of one utterance and their language. */
export type UtteranceWords = { channel: number; language: string; words: readonly Word[] }
