import type { AskOptions } from '../../src/language-services/llm/ask.ts'
import { moderateSentences } from '../../src/language-services/llm/moderate.ts'
import {
  extractData,
  runPrompt,
  type SummaryStyle,
  summarizeTranscript,
} from '../../src/language-services/llm/tasks.ts'
import { translateTexts } from '../../src/language-services/llm/translate.ts'
import { unifyNames } from '../../src/language-services/llm/unify-names.ts'
import { ServiceError } from '../../src/language-services/service-error.ts'
import { type EvaluationSet, textOf } from './language-model-set.ts'

/** A task of a model, its response, and the failed checks of the response. */
export type Evaluation = {
  task: string
  asked: string
  answer: string
  checks: number
  failed: string[]
}

/** What moderation means to find; see `text/service-add-ons/moderation.ts`. */
const CATEGORIES = {
  threat: 'announces violence against somebody',
  self_harm: 'somebody hurts or kills themselves, or wants to',
}

/** Words that occur in nearly every sentence of a language, and in no other language of the set. */
const ORDINARY: Record<string, RegExp> = {
  en: /\b(the|and|is|was|of|to|with)\b/i,
  de: /\b(der|die|das|und|ist|nicht|ein|eine|bei|mit)\b/i,
  es: /\b(el|los|las|que|una|es|y|del)\b/i,
  fr: /\b(le|les|des|est|et|une|du|dans)\b/i,
  zh: /\p{Script=Han}/u,
}

/** Runs all tasks of a set on a model, one after the other, and checks each response. */
export async function* evaluateModel(
  set: EvaluationSet,
  options: AskOptions,
): AsyncGenerator<Evaluation> {
  const transcriptOf = (name: string) => textOf(set.transcripts[name]!)
  for (const { of, prompt, has = [], lacks = [] } of set.prompts) {
    const response = await tryTo(async () => {
      return (await runPrompt({ prompt, transcript: transcriptOf(of) }, options)).text
    })
    yield evaluate('prompts', `${of}: ${prompt}`, response, [
      ...patterns(response, has),
      ...patterns(response, lacks, false),
    ])
  }
  for (const { of, values } of set.extractions) {
    const classes = Object.keys(values)
    const answer = await tryTo(async () => {
      const found = await extractData({ classes, transcript: transcriptOf(of) }, options)
      return JSON.stringify(found.values)
    })
    yield evaluate('extractions', of, answer, extractionChecks(answer, values, transcriptOf(of)))
  }
  for (const { of, style, facts, lacks = [] } of set.summaries) {
    const transcript = transcriptOf(of)
    const answer = await tryTo(async () => {
      return (await summarizeTranscript({ style, transcript }, options)).text
    })
    yield evaluate('summaries', `${of}, ${style}`, answer, [
      ...summaryChecks(answer, { style, transcript, language: set.transcripts[of]!.language }),
      ...patterns(answer, facts),
      ...patterns(answer, lacks, false),
    ])
  }
  yield* evaluateTranslations(set, options)
  yield* evaluateModeration(set, options)
  yield* evaluateNames(set, options)
}

type Check = [what: string, isMet: boolean]

function evaluate(
  task: string,
  requestedText: string,
  response: string,
  checks: Check[],
): Evaluation {
  const failed = checks.flatMap(([what, isMet]) => (isMet ? [] : [what]))
  return { task, asked: requestedText, answer: response, checks: checks.length, failed }
}

/** Returns an empty response for a task that fails, so that its required patterns fail. */
async function tryTo(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ServiceError) return ''
    throw error
  }
}

/** An empty response passes no check, not even for patterns that it must not contain. */
function patterns(answer: string, list: readonly string[], wanted = true): Check[] {
  return list.map((pattern) => {
    const isMet = new RegExp(pattern, 'iu').test(answer) === wanted
    return [`${wanted ? 'has' : 'lacks'} ${pattern}`, isMet && answer !== '']
  })
}

/** Each value is a check, and one that the transcript does not have fails another one. */
function extractionChecks(
  answer: string,
  wanted: Readonly<Record<string, readonly string[]>>,
  transcript: string,
): Check[] {
  const found = (answer === '' ? {} : JSON.parse(answer)) as Record<string, string[]>
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  return Object.entries(wanted).flatMap(([name, values]): Check[] => {
    const extracted = (found[name] ?? []).map(plain)
    const invented = extracted.filter((value) => !plain(transcript).includes(value))
    return [
      ...values.map(
        (value): Check => [
          `${name}: ${value}`,
          extracted.some((one) => one.includes(plain(value))),
        ],
      ),
      [`${name}: nothing else`, answer !== '' && extracted.length <= values.length],
      [`${name}: nothing invented`, answer !== '' && invented.length === 0],
    ]
  })
}

function summaryChecks(
  answer: string,
  { style, transcript, language }: { style: SummaryStyle; transcript: string; language: string },
): Check[] {
  const sentences = answer.split(/[.!?。]+(?:\s|$)/).filter((one) => one.trim() !== '').length
  const lines = answer.split('\n')
  const isPoints = lines.length <= 10 && lines.every((line) => line.startsWith('- '))
  const max = style === 'concise' ? 2 : 8
  const numbers = answer.match(/\d+/g) ?? []
  return [
    ['form', answer !== '' && (style === 'bullet_points' ? isPoints : sentences <= max)],
    ['shorter than half', answer !== '' && answer.length < transcript.length / 2],
    ['no new numbers', answer !== '' && numbers.every((number) => transcript.includes(number))],
    ['language', ORDINARY[language]!.test(answer)],
  ]
}

async function* evaluateTranslations({ translations }: EvaluationSet, options: AskOptions) {
  for (const { from, target, text, has, terms = [] } of translations) {
    const task = { target, texts: [text], context: '', before: [], informal: false, terms }
    const answer = await tryTo(async () => (await translateTexts(task, options)).texts[0]!)
    const hasLength = answer.length < text.length * 4 + 20 && answer.length > text.length / 5
    const kept = text.match(/\[[A-Z_\d]+\]/g) ?? []
    yield evaluate('translations', `${from} to ${target}: ${text}`, answer, [
      ['is another text', answer !== '' && answer !== text],
      ['has about its length', hasLength],
      ...kept.map((marker): Check => [`has ${marker}`, answer.includes(marker)]),
      ...patterns(answer, has),
    ])
  }
}

/** A model that flags nothing at all gets no credit for harmless sentences. */
async function* evaluateModeration({ moderation }: EvaluationSet, options: AskOptions) {
  const sentences = moderation.map(([sentence]) => sentence)
  const answer = await tryTo(async () => {
    const { flags } = await moderateSentences({ sentences, categories: CATEGORIES }, options)
    return JSON.stringify(flags)
  })
  const flags = (answer === '' ? [] : JSON.parse(answer)) as {
    sentence: number
    category: string
  }[]
  for (const [i, [sentence, category]] of moderation.entries()) {
    const categories = flags.filter((flag) => flag.sentence === i).map((flag) => flag.category)
    const isRight = category === null ? categories.length === 0 : categories.includes(category)
    yield evaluate('moderation', sentence, categories.join(), [
      [`${category}`, flags.length > 0 && isRight],
    ])
  }
}

/** A model that changes nothing at all gets no credit for the names that stay. */
async function* evaluateNames({ names }: EvaluationSet, options: AskOptions) {
  const groups = names.map(({ spellings, said }) => {
    return spellings.map((spelling, i) => ({ spelling, count: 3 - i, said: said[i]! }))
  })
  const answer = await tryTo(async () =>
    JSON.stringify((await unifyNames({ groups }, options)).changes),
  )
  const changes = (answer === '' ? [] : JSON.parse(answer)) as { from: string; to: string }[]
  for (const { spellings, same } of names) {
    const ofGroup = changes.filter(({ from }) => spellings.includes(from))
    const isRight = same
      ? ofGroup.length === 1 && ofGroup[0]!.to === spellings[0]
      : ofGroup.length === 0
    const shown = ofGroup.map(({ from, to }) => `${from} → ${to}`).join()
    yield evaluate('names', spellings.join(), shown, [[`${same}`, changes.length > 0 && isRight]])
  }
}
