import { readFileSync } from 'node:fs'
import type { SummaryStyle } from '../../src/language-services/llm/tasks.ts'

/** A transcript; a long one is made of its filler sentences, with one that matters at 60 %. */
type Spoken = { language: string } & (
  | { text: string }
  | { words: number; filler: readonly string[]; needle: string }
)

/** The tasks of a set; `of` names a transcript. Patterns are regular expressions. */
export type EvaluationSet = {
  transcripts: Readonly<Record<string, Spoken>>
  prompts: readonly { of: string; prompt: string; has?: string[]; lacks?: string[] }[]
  extractions: readonly { of: string; values: Record<string, string[]> }[]
  summaries: readonly { of: string; style: SummaryStyle; facts: string[]; lacks?: string[] }[]
  translations: readonly {
    from: string
    target: string
    text: string
    has: string[]
    terms?: string[]
  }[]
  moderation: readonly (readonly [sentence: string, category: string | null])[]
  names: readonly { spellings: string[]; said: string[]; same: boolean }[]
}

/** Reads the set beside this file. */
export function readSet(): EvaluationSet {
  const file = new URL('language-model.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as EvaluationSet
}

/** The kinds of tasks, in the order in which they run. */
export const TASKS = [
  'prompts',
  'extractions',
  'summaries',
  'translations',
  'moderation',
  'names',
] as const satisfies readonly (keyof EvaluationSet)[]

/** Returns a set with some of its tasks only. */
export function selectTasks(set: EvaluationSet, tasks: readonly string[]): EvaluationSet {
  const unknown = tasks.filter((name) => !(TASKS as readonly string[]).includes(name))
  if (unknown.length > 0) {
    throw new Error(`There is no task ${unknown.join(', ')}; there are ${TASKS.join(', ')}`)
  }
  const others = TASKS.filter((name) => !tasks.includes(name))
  return { ...set, ...Object.fromEntries(others.map((name) => [name, []])) }
}

/** Returns the text of a transcript. */
export function textOf(spoken: Spoken): string {
  if ('text' in spoken) return spoken.text
  const { words, filler, needle } = spoken
  const sentences: string[] = []
  for (let count = 0, n = 0; count < words; n++) {
    const sentence = filler[n % filler.length]!
    sentences.push(sentence)
    count += sentence.split(' ').length
  }
  sentences.splice(Math.floor(sentences.length * 0.6), 0, needle)
  return sentences.join('\n')
}
