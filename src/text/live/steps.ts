import type { Utterance, Word } from '../../transcript/transcript.ts'
import { makeFromTranscript, type Params } from '../add-on.ts'
import { addOns } from '../add-ons.ts'
import { answer, type Envelope } from '../result/envelope.ts'
import type { CustomVocabularyConfig } from '../vocabulary/entries.ts'
import { createVocabulary } from '../vocabulary/vocabulary.ts'
import type { Replacing } from '../words/growth.ts'
import { type CustomSpellingConfig, createSpelling } from '../words/spelling.ts'
import type { AddOnStep, TransformStep, UtteranceWords } from './step-names.ts'

/** A change that is ready: what it is made from is prepared once, and by the language of the words. */
export type Change = {
  apply(spoken: UtteranceWords): Word[]
  /** What was left out of all that came so far, for the customer. */
  warnings(): string[]
}

/** Makes a change from the parameters of a session; without its configuration it changes nothing. */
export function createChange(name: TransformStep, params: Params): Change {
  const replacing = replacingOf(name, params)
  if (!replacing) return { apply: ({ words }) => [...words], warnings: () => [] }
  return {
    apply(spoken) {
      const utterances = [{ ...spoken, words: [...spoken.words] }]
      return replacing.apply({ utterances }).utterances[0]!.words
    },
    warnings: () => replacing.warnings(),
  }
}

function replacingOf(name: TransformStep, params: Params): Replacing | undefined {
  const config = params[`${name}_config`]
  if (!config) return undefined
  return name === 'custom_vocabulary'
    ? createVocabulary(config as CustomVocabularyConfig)
    : createSpelling(config as CustomSpellingConfig)
}

/** An utterance as live messages and results show it (contract 4.4), as far as it is read here. */
type Said = {
  channel: number
  speaker?: number
  language: string
  words: { word: string; start: number; end: number; confidence: number }[]
}

/** How a finding is made: `now` is for the measure of time, `onFault` is told what no add-on should throw. */
export type FindOptions = {
  params: Params
  now: () => number
  onFault: (name: string, error: unknown) => void
}

/**
 * Finds something in utterances, which come as the JSON text of an array, as results show them; what is found
 * are objects, not text, but for a summary. Never throws for what an add-on does.
 */
export function find(
  name: AddOnStep,
  said: string,
  { params, now, onFault }: FindOptions,
): Envelope {
  const form = 'native'
  const addOn = addOns.find((one) => one.name === name)!
  const make = () => makeFromTranscript(addOn, { utterances: readSaid(said) }, params, { form })
  return answer(name, make, { now, form, onFault })
}

function readSaid(text: string): Utterance[] {
  return (JSON.parse(text) as Said[]).map(({ channel, speaker, language, words }) => ({
    channel,
    ...(speaker !== undefined && { speaker }),
    language,
    words: words.map(({ word, start, end, confidence }) => {
      return { text: word.trim(), start, end, confidence }
    }),
  }))
}
