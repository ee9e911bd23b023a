import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript, Utterance, Word } from '../../transcript/transcript.ts'
import {
  GrowthBudget,
  growthWarnings,
  MAX_REPLACEMENT,
  type SessionReplacer,
} from '../words/growth-budget.ts'
import { trailingFrom } from '../words/trailing.ts'
import { foldWord, mergeWords, withPunctuation, wordPartsOf } from '../words/word-parts.ts'

/** The wanted spellings, each with its recognized variants. */
export type CustomSpellingConfig = {
  spelling_dictionary: Readonly<Record<string, readonly string[]>>
}

/**
 * A node in the tree of variants: the steps that may follow, and the spelling if a variant ends
 * here.
 */
type VariantNode = { next: Map<string, VariantNode>; key?: string }

/** A parsed dictionary. */
type Dictionary = { root: VariantNode; maxStep: number }

/** A match: `key`, between `before` and `after`, replaces the words up to `to` (exclusive). */
type VariantMatch = { to: number; key: string; before: string; after: string }

/** Maximum punctuation marks around a variant, before and after its letters. */
const MAX_MARKS = 8
/** Characters of words, and signs that stand for a word: &, +, =, emoji. Marks follow a word. */
const IN_WORDS = /[\p{L}\p{N}\p{S}&]/u
/** Maximum steps of a variant. An utterance lasts at most half a minute, so it has fewer words. */
const MAX_STEPS = 100
/** Maximum characters that compose into one (NFC). */
const MAX_COMPOSED_CHARS = 4

/**
 * Replaces each variant of the dictionary by its key: whole words in any letter case, the longest
 * first, in one pass, so that no replacement is replaced again. Punctuation and a possessive 's
 * around a variant stay; a key of only punctuation is attached to the word before. A variant of two
 * keys belongs to the first one.
 */
export function applySpelling(transcript: Transcript, config: CustomSpellingConfig): Transcript {
  return createSpelling(config).apply(transcript)
}

/**
 * Prepares the same for transcripts that come one by one: the dictionary is parsed once, and there
 * is one limit for the growth of all.
 */
export function createSpelling(config: CustomSpellingConfig): SessionReplacer {
  const dictionaries = new Map<string, Dictionary>()
  const growth = new GrowthBudget()
  const tooLong = Object.entries(config.spelling_dictionary).filter(isTooLong).length
  return {
    apply(transcript) {
      const utterances = transcript.utterances.map((utterance) => {
        const separator = separatorOf(utterance.language)
        const dictionary = dictionaries.get(separator) ?? readDictionary(config, separator)
        dictionaries.set(separator, dictionary)
        return { ...utterance, words: spell(utterance, dictionary, growth) }
      })
      return { ...transcript, utterances }
    },
    warnings: () => growthWarnings('custom_spelling', { tooLong, leftOut: growth.leftOut }),
  }
}

function isTooLong([key, variants]: [string, readonly string[]]): boolean {
  return [key, ...variants].some((text) => text.trim().length > MAX_REPLACEMENT)
}

/**
 * Builds a tree of steps instead of regular expressions: a dictionary is user input, and its cost
 * must be proportional to its length.
 */
function readDictionary(
  { spelling_dictionary }: CustomSpellingConfig,
  separator: string,
): Dictionary {
  const root: VariantNode = { next: new Map() }
  let maxStep = 0
  for (const [key, variants] of Object.entries(spelling_dictionary)) {
    const written = key.trim()
    if (written === '' || written.length > MAX_REPLACEMENT) continue
    for (const variant of variants) {
      const steps = readVariant(variant, separator)
      if (steps.length === 0) continue
      let node = root
      for (const step of steps) {
        maxStep = Math.max(maxStep, step.length)
        const next = node.next.get(step) ?? { next: new Map() }
        node.next.set(step, next)
        node = next
      }
      node.key ??= written
    }
  }
  return { root, maxStep }
}

/** Returns the steps of a variant; none if it is longer than any utterance. */
function readVariant(variant: string, separator: string): string[] {
  const text = variant.trim()
  if (text.length > MAX_REPLACEMENT) return []
  const words = foldWord(text).split(/\s+/u)
  if (words.length > MAX_STEPS) return []
  return words.flatMap((word) => stepsOf(word, separator))
}

/**
 * Splits a text into steps: words, or characters in languages without spaces, whose word boundaries
 * are unknown.
 */
function stepsOf(text: string, separator: string): string[] {
  if (text === '') return []
  return separator === '' ? [...text] : [text]
}

function spell(
  { words, language }: Utterance,
  dictionary: Dictionary,
  growth: GrowthBudget,
): Word[] {
  const separator = separatorOf(language)
  const spelled: Word[] = []
  growth.begin(words)
  for (let at = 0; at < words.length; ) {
    const match = longestMatch(words, at, { dictionary, separator })
    if (match && replaceVariant(spelled, words.slice(at, match.to), { match, growth }))
      at = match.to
    else spelled.push(words[at++]!)
  }
  return spelled
}

/** Replaces a match. Returns false if the text would grow too much. */
function replaceVariant(
  spelled: Word[],
  replaced: readonly Word[],
  { match, growth }: { match: VariantMatch; growth: GrowthBudget },
): boolean {
  const previous = IN_WORDS.test(match.key) ? undefined : spelled.at(-1)
  const before = previous ? [previous, ...replaced] : replaced
  const text = previous ? attached(previous, match) : withPunctuation(match.key, match)
  if (!growth.allows(before, text)) return false
  if (previous) spelled.pop()
  spelled.push(mergeWords(before, text))
  return true
}

/**
 * Returns the match with the most words from `at`; undefined if there is none. A match never
 * contains punctuation between its words.
 */
function longestMatch(
  words: readonly Word[],
  at: number,
  { dictionary, separator }: { dictionary: Dictionary; separator: string },
): VariantMatch | undefined {
  let best: VariantMatch | undefined
  let open = [{ node: dictionary.root, before: '' }]
  for (let i = at; i < words.length && open.length > 0; i++) {
    const { text } = words[i]!
    const { before } = wordPartsOf(text)
    const starts = i === at && before !== text ? beginningsOf(before) : ['']
    const reached: typeof open = []
    let ended = false
    for (const way of open) {
      for (const skipped of starts) {
        const remainingText = text.slice(skipped.length)
        const from = { node: way.node, before: way.before + skipped }
        for (const after of endingsOf(remainingText)) {
          const part = remainingText.slice(0, remainingText.length - after.length)
          const node = walkVariants(from.node, part, { dictionary, separator })
          if (!node) continue
          if (node.key !== undefined && !ended) {
            best = { to: i + 1, key: node.key, before: from.before, after }
            ended = true
          }
          if (after === '') reached.push({ node, before: from.before })
        }
      }
    }
    open = reached
  }
  return best
}

/**
 * Returns the marks that may precede a variant, the fewest first, because a variant may begin with
 * marks.
 */
function beginningsOf(marks: string): string[] {
  const min = Math.max(0, marks.length - MAX_MARKS)
  const some = Array.from({ length: marks.length - min + 1 }, (_, i) => marks.slice(0, min + i))
  return min === 0 ? some : ['', ...some]
}

/**
 * Returns the endings that may follow a variant in its last word, the shortest first, because a
 * variant may end with marks.
 */
function endingsOf(text: string): string[] {
  const { core, possessive, after } = wordPartsOf(text)
  if (core === '') return ['']
  const min = Math.max(0, after.length - MAX_MARKS)
  const some = Array.from({ length: after.length - min + 1 }, (_, i) => {
    return after.slice(after.length - min - i)
  })
  const marks = min === 0 ? some : ['', ...some]
  return possessive === '' ? marks : [...marks, possessive + after]
}

function walkVariants(
  from: VariantNode,
  text: string,
  { dictionary, separator }: { dictionary: Dictionary; separator: string },
): VariantNode | undefined {
  // If characters are steps, the tree limits the search.
  if (separator !== '' && text.length > MAX_COMPOSED_CHARS * dictionary.maxStep) return undefined
  let node: VariantNode | undefined = from
  for (const step of stepsOf(foldWord(text), separator)) {
    node = node.next.get(step)
    if (!node) return undefined
  }
  return node
}

const GUESSED = /[.,;:!?…]/u

/**
 * Attaches a mark to a word. The mark replaces the punctuation that the recognizer wrote around the
 * spoken mark.
 */
function attached(previous: Word, { key, after }: VariantMatch): string {
  return withoutGuessed(previous.text) + key + withoutGuessed(after)
}

function withoutGuessed(text: string): string {
  return text.slice(0, trailingFrom(text, GUESSED))
}
