import type { Transcript, Utterance, Word } from '../../transcript/transcript.ts'
import { viewUtterance } from '../../transcript/utterance-view.ts'
import { sentences } from '../addons/sentences.ts'
import { type SubtitlesConfig, subtitles } from '../addons/subtitles.ts'
import { type AddOnError, AddOnFailure, answer, type ResultForm } from '../result/envelope.ts'
import type { ServiceAddOn, ServiceRequest } from '../service-add-on.ts'
import { errorOf, type LlmAnswer, readAnswer } from './answers.ts'
import { plainText } from './plain-transcript.ts'

/** `translation_config` (contract 2.3.1). */
type TranslationConfig = {
  target_languages: readonly string[]
  model?: 'base' | 'batch' | 'enhanced'
  context_adaptation?: boolean
  context?: string
  informal?: boolean
}

type Params = Readonly<Record<string, unknown>>

/** Texts that one request holds: an answer of a small model gets out of step with longer lists. */
const MOST_TEXTS = 20
const MOST_CHARACTERS = 2000
/** Texts of the request before, for what the first ones refer to. */
const BEFORE = 3

/** Utterances that are translated together, and those before them. */
type Group = { from: number; texts: string[]; before: string[] }

/** Translates every utterance into each target language (contract 4.6). */
export const translation: ServiceAddOn = {
  name: 'translation',
  languages: 'all',
  prepare({ utterances }, params) {
    const config = configOf(params)
    return config.target_languages.flatMap((target) => {
      return groupsOf(utterances, target).map((group) => toRequest(group, target, config))
    })
  },
  merge({ utterances }, params, answers, { form }) {
    const { target_languages: targets } = configOf(params)
    const read = answers.map(readAnswer)
    let next = 0
    const results = targets.map((target) => {
      const groups = groupsOf(utterances, target)
      const own = read.slice(next, next + groups.length)
      next += groups.length
      return translated({ utterances, target, groups, answers: own }, params, form)
    })
    const [first] = results
    if (first?.error && results.every(({ error }) => error)) throw new AddOnFailure(first.error)
    return { results, isEmpty: results.every(({ full_transcript: text }) => text === '') }
  },
}

function configOf(params: Params): TranslationConfig {
  return params.translation_config as TranslationConfig
}

/** Groups the utterances that are not in the target language already. */
function groupsOf(utterances: readonly Utterance[], target: string): Group[] {
  const groups: Group[] = []
  let last: Group | undefined
  let length = 0
  const texts = utterances.map(plainText)
  for (const [i, utterance] of utterances.entries()) {
    if (utterance.language === target) {
      last = undefined
      continue
    }
    const text = texts[i]!
    const isFull =
      last && (last.texts.length === MOST_TEXTS || length + text.length > MOST_CHARACTERS)
    if (!last || isFull) {
      last = { from: i, texts: [], before: texts.slice(Math.max(0, i - BEFORE), i) }
      groups.push(last)
      length = 0
    }
    last.texts.push(text)
    length += text.length
  }
  return groups
}

function toRequest(
  { texts, before }: Group,
  target: string,
  {
    model = 'base',
    context = '',
    context_adaptation: adapts = true,
    informal = false,
  }: TranslationConfig,
): ServiceRequest {
  const usesContext = adapts && model !== 'base'
  return {
    ...{ service: 'language model', model: 'configured', task: 'translation' },
    ...{ target, texts, informal },
    context: adapts ? context : '',
    before: usesContext ? before : [],
  }
}

type Target = {
  utterances: readonly Utterance[]
  target: string
  groups: readonly Group[]
  answers: readonly LlmAnswer[]
}

function translated(
  { utterances, target, groups, answers }: Target,
  params: Params,
  form: ResultForm,
) {
  const error = answers.map(errorOf).find((one) => one) ?? null
  if (error) return failedTarget(target, error)
  const texts = new Map<number, string>()
  for (const [g, { from, texts: own }] of groups.entries()) {
    const { texts: given = [] } = answers[g] as { texts?: string[] }
    for (const [i] of own.entries()) texts.set(from + i, given[i] ?? '')
  }
  const spoken = utterances.map((utterance, i): Utterance => {
    const text = texts.get(i)
    if (text === undefined) return utterance
    return { ...utterance, language: target, words: spreadWords(text, utterance.words) }
  })
  const transcript: Transcript = { utterances: spoken.filter(({ words }) => words.length > 0) }
  const views = transcript.utterances.map(viewUtterance)
  return {
    error: null as AddOnError | null,
    full_transcript: views.map(({ text }) => text.trim()).join(' '),
    languages: [target],
    utterances: views,
    ...textForms(transcript, params, form),
  }
}

function failedTarget(target: string, error: AddOnError | null) {
  return { error, full_transcript: '', languages: [target], utterances: [] }
}

/** Sentences and subtitles of the translation, when the job requests them. */
function textForms(transcript: Transcript, params: Params, form: ResultForm) {
  const now = () => performance.now()
  const config = params.subtitles_config as SubtitlesConfig | undefined
  return {
    ...(params.sentences === true && {
      sentences: [
        answer('sentences', () => sentences.make(transcript, params, { form }), { now, form }),
      ],
    }),
    ...(params.subtitles === true && { subtitles: subtitles(transcript, config) }),
  }
}

/** Languages without blanks between words are cut into characters, as their transcripts are. */
const BLANKLESS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** Spreads the words of a translation over the time of its utterance, by their length. */
function spreadWords(text: string, original: readonly Word[]): Word[] {
  const [first] = original
  const last = original.at(-1)
  if (!first || !last) return []
  const texts = piecesOf(text)
  const total = texts.reduce((sum, piece) => sum + piece.length, 0)
  const confidence = original.reduce((sum, word) => sum + word.confidence, 0) / original.length
  const span = last.end - first.start
  let before = 0
  return texts.map((piece) => {
    const start = first.start + (span * before) / total
    before += piece.length
    return { text: piece, start, end: first.start + (span * before) / total, confidence }
  })
}

function piecesOf(text: string): string[] {
  const pieces = text.split(/\s+/).filter((piece) => piece !== '')
  return pieces.flatMap((piece) => (BLANKLESS.test(piece) ? [...piece] : [piece]))
}
