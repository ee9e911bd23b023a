import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import { confidenceOfWords, viewUtterance } from '../../transcript/utterance-view.ts'
import type { Params } from '../add-ons/add-on.ts'
import { sentences } from '../add-ons/sentences.ts'
import { type SubtitlesConfig, subtitles } from '../add-ons/subtitles.ts'
import {
  type AddOnError,
  AddOnFailedError,
  type ResultFormat,
  runInEnvelope,
} from '../result/steps/envelope.ts'
import { type CustomSpellingConfig, createSpelling } from '../transforms/spelling.ts'
import { joinUtterances } from './join-utterances.ts'
import { plainText } from './plain-transcript.ts'
import { asLlmResponse, type LlmResponse, responseError } from './responses.ts'
import type { ServiceAddOn, ServiceRequest } from './service-add-on.ts'
import { followWords, interpolateWordTimes, type TimedWords } from './translated-words.ts'

/** The fields of `translation_config`. */
type TranslationConfig = {
  target_languages: readonly string[]
  model?: 'base' | 'batch' | 'enhanced'
  match_original_utterances?: boolean
  lipsync?: boolean
  context_adaptation?: boolean
  context?: string
  informal?: boolean
}

/** Maximum texts of one request: with longer lists, a small model skips or merges texts. */
const MAX_TEXTS = 20
const MAX_CHARACTERS = 2000
/** The number of preceding texts in a request, which the first texts may refer to. */
const BEFORE = 3

/**
 * Utterances that are translated together, and the utterances before them. `languages` has one
 * entry for each text.
 */
type TextGroup = {
  from: number
  texts: string[]
  languages: string[]
  before: string[]
  spoken: AudioSpans[]
}

/** Where a text was said: a channel, and spans in seconds that are short enough. */
export type AudioSpans = { channel: number; spans: [start: number, end: number][] }

/**
 * The longest span in seconds. Models that translate speech take half a minute, which includes the
 * audio around the span.
 */
const MAX_SECONDS = 27

/**
 * Translates every utterance into each target language. Utterances in that language are copied
 * without a service.
 */
export const translation: ServiceAddOn = {
  name: 'translation',
  languages: 'all',
  prepare(transcript, params) {
    const config = configOf(params)
    const utterances = unitsOf(transcript, config)
    return config.target_languages.flatMap((target) => {
      return textGroups(utterances, target).map((group) => toRequest(group, target, params))
    })
  },
  merge(transcript, params, responses, { format }) {
    const config = configOf(params)
    const utterances = unitsOf(transcript, config)
    const { target_languages: targets } = config
    const read = responses.map(asLlmResponse)
    let next = 0
    const results = targets.map((target) => {
      const groups = textGroups(utterances, target)
      const ofTarget = read.slice(next, next + groups.length)
      next += groups.length
      const whole = { ...transcript, utterances }
      return translated({ ...whole, target, groups, responses: ofTarget }, params, format)
    })
    const errors = results.flatMap(({ error }) => (error ? [error] : []))
    if (errors.length === results.length && errors[0]) {
      // The error of the add-on states what is missing for each language.
      const message = [...new Set(errors.map((error) => error.message))].join('; ')
      throw new AddOnFailedError({ ...errors[0], message })
    }
    return { results, isEmpty: results.every(({ full_transcript: text }) => text === '') }
  },
}

function configOf(params: Params): TranslationConfig {
  return params.translation_config as TranslationConfig
}

/** Returns the units of translation: utterances, or the joined utterances of each sentence. */
function unitsOf(
  { utterances }: Transcript,
  { match_original_utterances: matches = true }: TranslationConfig,
): readonly Utterance[] {
  return matches ? utterances : joinUtterances(utterances)
}

/**
 * Groups the utterances that are not in the target language. If there are none, one empty group
 * finds out whether there is a translator.
 */
function textGroups(utterances: readonly Utterance[], target: string): TextGroup[] {
  const empty = { texts: [], languages: [], spoken: [] }
  if (utterances.length === 0) return [{ from: 0, ...empty, before: [] }]
  const groups: TextGroup[] = []
  let last: TextGroup | undefined
  let length = 0
  const texts = utterances.map(plainText)
  for (const [i, utterance] of utterances.entries()) {
    if (utterance.language === target) {
      last = undefined
      continue
    }
    const text = texts[i]!
    const isFull =
      last && (last.texts.length === MAX_TEXTS || length + text.length > MAX_CHARACTERS)
    if (!last || isFull) {
      const before = texts.slice(Math.max(0, i - BEFORE), i)
      last = { from: i, texts: [], languages: [], spoken: [], before }
      groups.push(last)
      length = 0
    }
    last.texts.push(text)
    last.languages.push(utterance.language)
    last.spoken.push({ channel: utterance.channel, spans: wordSpansOf(utterance) })
    length += text.length
  }
  return groups
}

/** Splits an utterance between words into spans that are short enough. */
function wordSpansOf({ words }: Utterance): [number, number][] {
  const spans: [number, number][] = []
  for (const { start, end } of words) {
    const last = spans.at(-1)
    if (last && end - last[0] <= MAX_SECONDS) last[1] = Math.max(last[1], end)
    else spans.push([start, end])
  }
  return spans
}

/**
 * Speech is translated only into English, and never with redaction, because the audio contains the
 * hidden words.
 */
function needsSpeechTranslation(target: string, params: Params): boolean {
  return target === 'en' && params.pii_redaction !== true
}

function toRequest(
  { texts, languages, before, spoken }: TextGroup,
  target: string,
  params: Params,
): ServiceRequest {
  const { model = 'base', context = '', informal = false, ...config } = configOf(params)
  const { context_adaptation: adapts = true } = config
  const usesContext = adapts && model !== 'base'
  return {
    service: 'language model',
    model: 'configured',
    task: 'translation',
    target,
    texts,
    languages,
    informal,
    context: adapts ? context : '',
    before: usesContext ? before : [],
    ...(needsSpeechTranslation(target, params) && { spoken }),
    ...termsOf(texts, params),
  }
}

/** Longer keys of a spelling are sentences, not terms. */
const MAX_TERM_LETTERS = 50

/** Returns the keys of `custom_spelling` that occur in some texts. */
function termsOf(texts: readonly string[], params: Params): { terms?: string[] } {
  if (params.custom_spelling !== true) return {}
  const { spelling_dictionary: spellingDictionary } =
    params.custom_spelling_config as CustomSpellingConfig
  const terms = Object.keys(spellingDictionary).filter((term) => {
    const isTerm = /[\p{L}\p{N}]/u.test(term) && term.length <= MAX_TERM_LETTERS
    return isTerm && texts.some((text) => text.includes(term))
  })
  return terms.length > 0 ? { terms } : {}
}

type TimedUtterance = Omit<Utterance, 'words'> & TimedWords

type TranslationTarget = {
  utterances: readonly Utterance[]
  duration?: number
  target: string
  groups: readonly TextGroup[]
  responses: readonly LlmResponse[]
}

function translated(
  { utterances, duration, target, groups, responses }: TranslationTarget,
  params: Params,
  format: ResultFormat,
) {
  const error = responses.map(responseError).find((one) => one) ?? null
  if (error) return failedTarget(target, error)
  const texts = new Map<number, string>()
  for (const [g, { from, texts: groupTexts }] of groups.entries()) {
    const { texts: translatedTexts = [], isHeard } = responses[g] as {
      texts?: string[]
      isHeard?: boolean
    }
    const spell = isHeard ? spellingOf(params, target) : (text: string) => text
    for (const [i] of groupTexts.entries()) texts.set(from + i, spell(translatedTexts[i] ?? ''))
  }
  const { lipsync = true } = configOf(params)
  const time = lipsync ? followWords : interpolateWordTimes
  const timed = utterances.map(({ words, ...utterance }, i): TimedUtterance => {
    const text = texts.get(i)
    if (text === undefined) return { ...utterance, words, shown: words }
    return { ...utterance, language: target, ...time(text, words, target) }
  })
  const confidences = utterances.map(({ words }) => confidenceOfWords(words))
  const spoken = timed.flatMap((one, i) => {
    return one.words.length > 0 ? [{ ...one, confidence: confidences[i]! }] : []
  })
  const transcript: Transcript = {
    utterances: spoken.map(({ shown: _, ...one }) => one),
    ...(duration !== undefined && { duration }),
  }
  const views = spoken.map(({ shown, confidence, ...one }) => {
    return { ...viewUtterance({ ...one, words: shown }), confidence }
  })
  return {
    error: null as AddOnError | null,
    full_transcript: views.map(({ text }) => text.trim()).join(' '),
    languages: [target],
    utterances: views,
    ...textForms(transcript, params, format),
  }
}

/**
 * Returns a function that applies the spellings to a translation from speech, which does not
 * contain them yet.
 */
function spellingOf(params: Params, language: string): (text: string) => string {
  if (params.custom_spelling !== true) return (text) => text
  const spelling = createSpelling(params.custom_spelling_config as CustomSpellingConfig)
  return (text) => {
    const words = text.split(' ').map((one) => ({ text: one, start: 0, end: 0, confidence: 1 }))
    const [spelled] = spelling.apply({ utterances: [{ channel: 0, language, words }] }).utterances
    return spelled!.words.map((word) => word.text).join(' ')
  }
}

function failedTarget(target: string, error: AddOnError | null) {
  return { error, full_transcript: '', languages: [target], utterances: [] }
}

/** Writes the sentences and subtitles of a translation, if the job requests them. */
function textForms(transcript: Transcript, params: Params, format: ResultFormat) {
  const now = () => performance.now()
  const config = params.subtitles_config as SubtitlesConfig | undefined
  return {
    ...(params.sentences === true && {
      sentences: [
        runInEnvelope('sentences', () => sentences.compute(transcript, params, { format }), {
          now,
          format,
        }),
      ],
    }),
    ...(params.subtitles === true && { subtitles: subtitles(transcript, config) }),
  }
}
