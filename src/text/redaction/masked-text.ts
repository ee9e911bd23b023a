import type { Transcript } from '../../transcript/transcript.ts'
import { markers } from './labels.ts'

/** A word is not hidden at a place of the canvas that is painted so. */
export const OPEN = 0
/** A marker that stood in the text before. */
const GIVEN = -1

/**
 * The characters of all words of a transcript in a row, and what each is painted with: `OPEN`, or the number
 * of the entity that hides it. `bases[u][w]` is the place of the first character of word w of utterance u.
 */
export type MaskedText = Transcript & { bases: number[][]; paint: Int32Array }

/** A stretch of a word that is painted alike; `from` and `to` (exclusive) are offsets in the word. */
export type Stretch = { paint: number; text: string; from: number; to: number }

/** Opens the canvas of a transcript; only markers that stand in it already are hidden. */
export function createMaskedText({ utterances }: Transcript): MaskedText {
  let length = 0
  const bases = utterances.map(({ words }) =>
    words.map(({ text }) => {
      length += text.length
      return length - text.length
    }),
  )
  const canvas = { utterances, bases, paint: new Int32Array(length) }
  for (const [u, { words }] of utterances.entries()) {
    for (const [w, { text }] of words.entries()) {
      for (const { 0: marker, index } of text.matchAll(markers())) {
        const from = bases[u]![w]! + index
        canvas.paint.fill(GIVEN, from, from + marker.length)
      }
    }
  }
  return canvas
}

/** Whether a part of a word says nothing without what is hidden before it: marks, or a possessive. */
export function isLeftover(text: string): boolean {
  return /^(?:['’]s)?[^\p{L}\p{N}]*$/iu.test(text)
}

/** A word in stretches; a marker that stood in it before counts as hidden when `seesGiven`, else as open. */
export function stretchesOf(
  { utterances, bases, paint }: MaskedText,
  { utterance, word, seesGiven }: { utterance: number; word: number; seesGiven: boolean },
): Stretch[] {
  const { text } = utterances[utterance]!.words[word]!
  const base = bases[utterance]![word]!
  const stretches: Stretch[] = []
  for (let from = 0; from < text.length; ) {
    const own = paint[base + from]!
    let to = from + 1
    while (to < text.length && paint[base + to] === own) to++
    const seen = own === GIVEN && !seesGiven ? OPEN : own
    stretches.push({ paint: seen, text: text.slice(from, to), from, to })
    from = to
  }
  return stretches
}
