import { ServiceError } from '../service-error.ts'
import { type AskOptions, askAboutTranscript, parseAnswer, withoutFence } from './ask.ts'
import type { ChatResponse, CompletionUsage } from './chat-client.ts'
import { estimateTokens } from './token-estimate.ts'

/** Styles of a summary. */
export type SummaryStyle = 'general' | 'bullet_points' | 'concise'

const styles: Record<SummaryStyle, string> = {
  general: 'Summarize the transcript in one paragraph of at most eight sentences.',
  bullet_points:
    'Summarize the transcript as at most ten points. Begin each line with "- ", and write nothing else.',
  concise: 'Summarize the transcript in one or two sentences.',
}
const MAX_POINTS = 10
/** Maximum values of one class. */
const MAX_VALUES = 50
/**
 * Tokens around the values of a class, and the most values that contain the same word of a
 * transcript.
 */
const CLASS_TOKENS = 40
const MAX_USES_PER_WORD = 2
/** Four sentences and some words, in scripts with a token for each letter. */
const CHAPTER_TOKENS = 768
const IN_ITS_LANGUAGE = 'Write in the language of the transcript.'
const NOTES = `Note the main facts, decisions and names of this part in a few short lines. ${IN_ITS_LANGUAGE}`

/** Answers a prompt of a user about a transcript. */
export function runPrompt(
  { prompt, transcript }: { prompt: string; transcript: string },
  options: AskOptions,
): Promise<ChatResponse> {
  const partInstruction =
    'Note everything in this part of a longer transcript that helps to do the following, in a few short lines; ' +
    `write "nothing" if there is nothing.\n\n${prompt}`
  return askAboutTranscript({ instruction: prompt, partInstruction, transcript }, options)
}

/** Summarizes a transcript in one of the styles. */
export async function summarizeTranscript(
  { style, transcript }: { style: SummaryStyle; transcript: string },
  options: AskOptions,
): Promise<ChatResponse> {
  const instruction = `${styles[style]} ${IN_ITS_LANGUAGE}`
  const question = { instruction, partInstruction: NOTES, transcript }
  const response = await askAboutTranscript(question, options)
  const summary = withoutFence(response.text).trim()
  if (summary === '') throw new ServiceError('the language model returned no text')
  return { ...response, text: style === 'bullet_points' ? asPoints(summary) : summary }
}

/** Marks of a list. "-5 degrees", "3.5 million" and "**Costs**" begin with none. */
const POINT = /^\s*(?:[-–—•](?:\s+|(?!\d))|\*\s+|\d+[.)](?:\s+|(?!\d)))/

function asPoints(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  // An introduction such as "Here are the points:" is not a point.
  const isIntroduction = first.trimEnd().endsWith(':') && !POINT.test(first) && rest.length > 0
  const lines = (isIntroduction ? rest : [first, ...rest]).map((line) => {
    return line.replace(POINT, '').trim()
  })
  // Small models repeat themselves.
  const points = [...new Set(lines)]
    .filter((line) => line !== '' && !line.startsWith('```'))
    .slice(0, MAX_POINTS)
  return points.map((point) => `- ${point}`).join('\n')
}

/** The values found for each class, as the transcript has them. */
export type ExtractedValues = Record<string, string[]>

/** Extracts the values of some classes, such as "order number", that a transcript holds. */
export async function extractData(
  { classes, transcript }: { classes: readonly string[]; transcript: string },
  options: AskOptions,
): Promise<{ values: ExtractedValues; usage: CompletionUsage }> {
  const named = classes.map((name) => `"${name}"`).join(', ')
  // Without a limit, small models would write forever.
  const list = { type: 'array', items: { type: 'string' }, maxItems: MAX_VALUES }
  const keys = Object.fromEntries(classes.map((name) => [name, list]))
  const schema = {
    name: 'extraction',
    schema: { type: 'object', properties: keys, required: classes, additionalProperties: false },
  }
  const instruction =
    `Find the values of these classes in the transcript: ${named}. Answer with one JSON object: its keys are the ` +
    'classes, the value of each is a list of the texts found, word for word, empty if there are none.'
  const partInstruction = `Note the values of these classes in this part, one per line as "class: value": ${named}.`
  const problemOf = (response: string) =>
    parseObject(response) ? undefined : 'it was no JSON object'
  const maxTokens =
    MAX_USES_PER_WORD * estimateTokens(transcript + named) + CLASS_TOKENS * (classes.length + 2)
  const question = { instruction, partInstruction, transcript, schema, maxTokens, problemOf }
  const { text, usage } = await askAboutTranscript(question, options)
  const parsedObject = parseObject(text)
  if (!parsedObject) throw new ServiceError('the language model returned no JSON object')
  return {
    values: Object.fromEntries(classes.map((name) => [name, textsOf(parsedObject[name])])),
    usage,
  }
}

/** The texts of a chapter; a text that the model omitted is undefined. */
export type ChapterTexts = {
  headline?: string | undefined
  gist?: string | undefined
  summary?: string | undefined
  keywords: string[]
}

/** Maximum characters of a headline, and maximum keywords. */
const MAX_HEADLINE_CHARS = 100
const MAX_KEYWORDS = 10

/** Writes headline, gist, summary and keywords of a chapter from its words. */
export async function describeChapter(
  { transcript }: { transcript: string },
  options: AskOptions,
): Promise<ChapterTexts & { usage: CompletionUsage }> {
  const text = { type: 'string' }
  const keywords = { type: 'array', items: text, maxItems: MAX_KEYWORDS }
  const properties = { headline: text, gist: text, summary: text, keywords }
  const required = Object.keys(properties)
  const schema = {
    name: 'chapter',
    schema: { type: 'object', properties, required, additionalProperties: false },
  }
  const instruction =
    'This is one chapter of a longer recording. Answer with one JSON object: "headline" is a title of at most eight ' +
    'words, "gist" is one sentence, "summary" is two or three sentences, "keywords" is a list of at most five words. ' +
    IN_ITS_LANGUAGE
  const problemOf = (response: string) =>
    parseObject(response) ? undefined : 'it was no JSON object'
  const maxTokens = CHAPTER_TOKENS
  const question = {
    instruction,
    partInstruction: NOTES,
    transcript,
    schema,
    maxTokens,
    problemOf,
  }
  const response = await askAboutTranscript(question, options)
  const parsedObject = parseObject(response.text)
  if (!parsedObject) throw new ServiceError('the language model returned no JSON object')
  const textIn = (value: unknown) => (typeof value === 'string' ? value.trim() : undefined)
  const headline = textIn(parsedObject.headline)
  return {
    headline: headline && [...headline].slice(0, MAX_HEADLINE_CHARS).join(''),
    gist: textIn(parsedObject.gist),
    summary: textIn(parsedObject.summary),
    keywords: textsOf(parsedObject.keywords).slice(0, MAX_KEYWORDS),
    usage: response.usage,
  }
}

function parseObject(response: string): Record<string, unknown> | undefined {
  const json = parseAnswer(response)
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
  return isObject ? (json as Record<string, unknown>) : undefined
}

function textsOf(value: unknown): string[] {
  const all = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  const texts = all.filter((item) => typeof item === 'string' || typeof item === 'number')
  const trimmed = texts.map((item) => String(item).trim())
  return [...new Set(trimmed.filter((text) => text !== ''))]
}
