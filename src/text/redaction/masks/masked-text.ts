import type { Transcript } from '../../../transcript/transcript.ts'
import { markers } from '../markers/markers.ts'

/** The mask value of a character that is not hidden. */
export const UNMASKED = 0
/** The mask value of a marker that the text contained before. */
const EXISTING_MARKER = -1

/**
 * A transcript with a mask value for each character of its words, in order: `UNMASKED`, or the
 * number of the entity that hides it. `bases[u][w]` is the offset of the first character of word w
 * of utterance u.
 */
export type MaskedText = Transcript & { bases: number[][]; mask: Int32Array }

/**
 * A run of characters of a word with one mask value; `from` and `to` (exclusive) are offsets in the
 * word.
 */
export type MaskRun = { mask: number; text: string; from: number; to: number }

/** Creates the masked text of a transcript, in which only existing markers are hidden. */
export function createMaskedText({ utterances }: Transcript): MaskedText {
  let length = 0
  const bases = utterances.map(({ words }) =>
    words.map(({ text }) => {
      length += text.length
      return length - text.length
    }),
  )
  const masked = { utterances, bases, mask: new Int32Array(length) }
  for (const [u, { words }] of utterances.entries()) {
    for (const [w, { text }] of words.entries()) {
      for (const { 0: marker, index } of text.matchAll(markers())) {
        const from = bases[u]![w]! + index
        masked.mask.fill(EXISTING_MARKER, from, from + marker.length)
      }
    }
  }
  return masked
}

/**
 * Returns whether a part of a word has no meaning without the hidden part before it: punctuation,
 * or a possessive.
 */
export function isPunctuationOrPossessive(text: string): boolean {
  return /^(?:['’]s)?[^\p{L}\p{N}]*$/iu.test(text)
}

/** Returns the runs of a word. With `seesMarkers`, existing markers are hidden. */
export function maskRunsOf(
  { utterances, bases, mask }: MaskedText,
  { utterance, word, seesMarkers }: { utterance: number; word: number; seesMarkers: boolean },
): MaskRun[] {
  const { text } = utterances[utterance]!.words[word]!
  const base = bases[utterance]![word]!
  const runs: MaskRun[] = []
  for (let from = 0; from < text.length; ) {
    const runMask = mask[base + from]!
    let to = from + 1
    while (to < text.length && mask[base + to] === runMask) to++
    const seenMask = runMask === EXISTING_MARKER && !seesMarkers ? UNMASKED : runMask
    runs.push({ mask: seenMask, text: text.slice(from, to), from, to })
    from = to
  }
  return runs
}
