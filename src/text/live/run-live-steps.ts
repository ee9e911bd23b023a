import type { Utterance, Word } from '../../transcript/transcript.ts'
import { type Params, runOnSupportedUtterances } from '../add-ons/add-on.ts'
import { localAddOns } from '../add-ons/add-ons.ts'
import { type Envelope, runInEnvelope } from '../result/steps/envelope.ts'
import { type CustomSpellingConfig, createSpelling } from '../transforms/spelling.ts'
import { createVocabulary } from '../vocabulary/custom-vocabulary.ts'
import type { CustomVocabularyConfig } from '../vocabulary/entries.ts'
import type { SessionReplacer } from '../words/growth-budget.ts'
import type { AddOnStep, TransformStep, UtteranceWords } from './step-names.ts'

/** A transform ready to run: it prepares its configuration once, and per language of the words. */
export type PreparedTransform = {
  apply(utterance: UtteranceWords): Word[]
  /** Returns the warnings for the user: what was left out of all utterances so far. */
  warnings(): string[]
}

/**
 * Creates a transform from the parameters of a session. Without its configuration it changes
 * nothing.
 */
export function prepareTransform(name: TransformStep, params: Params): PreparedTransform {
  const replacing = replacingOf(name, params)
  if (!replacing) return { apply: ({ words }) => [...words], warnings: () => [] }
  return {
    apply(utterance) {
      const utterances = [{ ...utterance, words: [...utterance.words] }]
      return replacing.apply({ utterances }).utterances[0]!.words
    },
    warnings: () => replacing.warnings(),
  }
}

function replacingOf(name: TransformStep, params: Params): SessionReplacer | undefined {
  const config = params[`${name}_config`]
  if (!config) return undefined
  return name === 'custom_vocabulary'
    ? createVocabulary(config as CustomVocabularyConfig)
    : createSpelling(config as CustomSpellingConfig)
}

/** The fields of an utterance that are read here, as live messages and results contain them. */
type UtteranceInput = {
  channel: number
  speaker?: number
  language: string
  words: { word: string; start: number; end: number; confidence: number }[]
}

/**
 * Options of `runLiveAddOn`. `now` measures the time; `onFault` receives errors that no add-on
 * should throw.
 */
export type StepOptions = {
  params: Params
  now: () => number
  onFault: (name: string, error: unknown) => void
}

/**
 * Runs an add-on on utterances, given as the JSON text of an array in the form of results. The
 * results are objects, except for the text of a summary. An add-on cannot make it throw.
 */
export function runLiveAddOn(
  name: AddOnStep,
  utterancesJson: string,
  { params, now, onFault }: StepOptions,
): Envelope {
  const format = 'native'
  const addOn = localAddOns.find((candidate) => candidate.name === name)!
  const compute = () =>
    runOnSupportedUtterances(addOn, { utterances: readUtterances(utterancesJson) }, params, {
      format,
    })
  return runInEnvelope(name, compute, { now, format, onFault })
}

function readUtterances(text: string): Utterance[] {
  return (JSON.parse(text) as UtteranceInput[]).map(({ channel, speaker, language, words }) => ({
    channel,
    ...(speaker !== undefined && { speaker }),
    language,
    words: words.map(({ word, start, end, confidence }) => {
      return { text: word.trim(), start, end, confidence }
    }),
  }))
}
