import type { Utterance, Word } from '../../../transcript/transcript.ts'
import { mergeWords } from '../../words/word-parts.ts'
import {
  isPunctuationOrPossessive,
  type MaskedText,
  type MaskRun,
  maskRunsOf,
  UNMASKED,
} from '../masks/masked-text.ts'

/** A word of the result, and the words that it replaces. */
type MarkedWord = { text: string; from: Word[]; utterance: number }

/**
 * Returns the utterances with a marker for each entity. A single word replaces the words of an
 * entity, at the position of the first one. It also takes over the rest of the last word, even from
 * a later utterance. Empty utterances are dropped.
 */
export function writeMarkers(masked: MaskedText, markerOf: (mask: number) => string): Utterance[] {
  const marked = new Map<number, MarkedWord>()
  const written = masked.utterances.map(({ words }, utterance) => {
    const line: MarkedWord[] = []
    for (const [word, maskedWord] of words.entries()) {
      const runs = maskRunsOf(masked, { utterance, word, seesMarkers: false })
      const earlier = marked.get(runs[0]?.mask ?? UNMASKED)
      // Only punctuation moves to an earlier utterance, and the times of a word never extend into
      // another one.
      const isHere = earlier?.utterance === utterance || (earlier && runs.every(isMark))
      const target = earlier && isHere ? earlier : { text: '', from: [], utterance }
      for (const { mask, text } of runs) {
        if (mask === UNMASKED) target.text += text
        else if (!marked.has(mask)) {
          target.text += markerOf(mask)
          marked.set(mask, target)
        }
      }
      if (target.utterance === utterance) target.from.push(maskedWord)
      if (target !== earlier) line.push(target)
    }
    return line
  })

  /**
   * Returns whether a run needs no text: its marker is already written, or it has no meaning by
   * itself.
   */
  function isMark({ mask, text }: MaskRun): boolean {
    return mask === UNMASKED ? isPunctuationOrPossessive(text) : marked.has(mask)
  }

  return masked.utterances.flatMap((utteranceView, utterance) => {
    const words = written[utterance]!.map(({ text, from }) => mergeWords(from, text))
    return words.length > 0 || utteranceView.words.length === 0 ? [{ ...utteranceView, words }] : []
  })
}
