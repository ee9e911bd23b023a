import type { Word } from '../../transcript/transcript.ts'

/** What changes the words of an utterance, in this order. */
export const changes = ['custom_vocabulary', 'custom_spelling'] as const
/** One that changes words. */
export type ChangeName = (typeof changes)[number]

/** What is found in what was said: in each utterance, or, for the summary, in all of them. */
export const findings = ['named_entity_recognition', 'sentiment_analysis', 'summarization'] as const
/** One that tells what it found. */
export type FindingName = (typeof findings)[number]

/** What a change works on: the words of one utterance and their language. */
export type SpokenWords = { channel: number; language: string; words: readonly Word[] }
