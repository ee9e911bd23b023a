import { separatorOf } from '../transcript/separators.ts'
import type { Transcript, Utterance, Word } from '../transcript/transcript.ts'
import { dress, foldCase, partsOf, replaceWords } from './word-parts.ts'

/** Spellings that are wanted, each with what is heard for it (contract 2.3.1). */
export type CustomSpellingConfig = {
  spelling_dictionary: Readonly<Record<string, readonly string[]>>
}

/** One step in a variant: the steps that may follow, and the spelling when a variant ends here. */
type Node = { next: Map<string, Node>; key?: string }

/** What is replaced: words from `at` to `to` (exclusive) by `key` between `before` and `after`. */
type Match = { to: number; key: string; before: string; after: string }

/** Languages this works in. */
export const languages: readonly string[] = ['all']

/**
 * Writes each variant of the dictionary as its key: whole words in any letter case, the longest first, in one
 * pass, so that no replacement is replaced again. Marks and a possessive 's around a variant stay; a key of
 * marks alone goes behind the word before. A variant of two keys is of the first.
 */
export function applySpelling(transcript: Transcript, config: CustomSpellingConfig): Transcript {
  return createSpelling(config)(transcript)
}

/** The same for transcripts that come one by one: the dictionary is read once. */
export function createSpelling(
  config: CustomSpellingConfig,
): (transcript: Transcript) => Transcript {
  const roots = new Map<string, Node>()
  return (transcript) => {
    const utterances = transcript.utterances.map((utterance) => {
      const separator = separatorOf(utterance.language)
      const root = roots.get(separator) ?? readDictionary(config, separator)
      roots.set(separator, root)
      return { ...utterance, words: spell(utterance, root) }
    })
    return { ...transcript, utterances }
  }
}

/** A tree of steps instead of expressions: a dictionary is input, and costs what its length is. */
function readDictionary({ spelling_dictionary }: CustomSpellingConfig, separator: string): Node {
  const root: Node = { next: new Map() }
  for (const [key, variants] of Object.entries(spelling_dictionary)) {
    if (key.trim() === '') continue
    for (const variant of variants) {
      const steps = foldCase(variant.trim())
        .split(/\s+/u)
        .flatMap((text) => stepsOf(text, separator))
      if (steps.length === 0) continue
      let node = root
      for (const step of steps) {
        const next = node.next.get(step) ?? { next: new Map() }
        node.next.set(step, next)
        node = next
      }
      node.key ??= key.trim()
    }
  }
  return root
}

/** Words are steps; where no blanks are between words, signs are, as nobody knows where words end. */
function stepsOf(text: string, separator: string): string[] {
  if (text === '') return []
  return separator === '' ? [...text] : [text]
}

function spell({ words, language }: Utterance, root: Node): Word[] {
  const separator = separatorOf(language)
  const spelled: Word[] = []
  for (let at = 0; at < words.length; ) {
    const match = longestMatch(words, at, { root, separator })
    if (!match) {
      spelled.push(words[at]!)
      at++
      continue
    }
    const replaced = words.slice(at, match.to)
    const previous = spelled.at(-1)
    if (previous && !/[\p{L}\p{N}]/u.test(match.key)) {
      spelled[spelled.length - 1] = attach(previous, match, replaced)
    } else {
      spelled.push(replaceWords(replaced, dress(match.key, match)))
    }
    at = match.to
  }
  return spelled
}

/** The match of most words from `at`, or none. A match never swallows marks between its words. */
function longestMatch(
  words: readonly Word[],
  at: number,
  { root, separator }: { root: Node; separator: string },
): Match | undefined {
  let best: Match | undefined
  let open = [{ node: root, before: '' }]
  for (let i = at; i < words.length && open.length > 0; i++) {
    const { text } = words[i]!
    const { before } = partsOf(text)
    const starts = i === at && before !== text ? beginningsOf(before) : ['']
    const reached: typeof open = []
    let ended = false
    for (const way of open) {
      for (const skipped of starts) {
        const rest = text.slice(skipped.length)
        const from = { node: way.node, before: way.before + skipped }
        for (const after of endingsOf(rest)) {
          const node = walk(from.node, rest.slice(0, rest.length - after.length), separator)
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

/** What may stand before a variant, the least first: a variant may begin with marks itself. */
function beginningsOf(marks: string): string[] {
  return Array.from({ length: marks.length + 1 }, (_, i) => marks.slice(0, i))
}

/** What may stand behind a variant in its last word, the least first: a variant may end in marks itself. */
function endingsOf(text: string): string[] {
  const { core, possessive, after } = partsOf(text)
  if (core === '') return ['']
  const marks = Array.from({ length: after.length + 1 }, (_, i) => after.slice(after.length - i))
  return possessive === '' ? marks : [...marks, possessive + after]
}

function walk(from: Node, text: string, separator: string): Node | undefined {
  let node: Node | undefined = from
  for (const step of stepsOf(foldCase(text), separator)) node = node?.next.get(step)
  return node
}

/** Puts a mark behind a word, in place of the marks that the recognizer guessed around the spoken one. */
function attach(previous: Word, { key, after }: Match, replaced: readonly Word[]): Word {
  const guessed = /[.,;:!?…]+$/u
  const text = previous.text.replace(guessed, '') + key + after.replace(guessed, '')
  return replaceWords([previous, ...replaced], text)
}
