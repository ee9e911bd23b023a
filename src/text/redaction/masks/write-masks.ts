import type { Utterance } from '../../../transcript/transcript.ts'
import { type MaskedText, maskRunsOf, UNMASKED } from './masked-text.ts'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns a text with `#` for each visible character except spaces. */
export function maskOf(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text.replace(/\S/g, '#')
  return Array.from(graphemes.segment(text), ({ segment }) => {
    return /^\s+$/u.test(segment) ? segment : '#'
  }).join('')
}

/** Returns the utterances with masks. The number of words and their times stay the same. */
export function writeMasks(masked: MaskedText): Utterance[] {
  return masked.utterances.map((utterance, utteranceIndex) => {
    const words = utterance.words.map((original, word) => {
      const runs = maskRunsOf(masked, { utterance: utteranceIndex, word, seesMarkers: false })
      const texts = runs.map(({ mask, text }) => (mask === UNMASKED ? text : maskOf(text)))
      return { ...original, text: texts.join('') }
    })
    return { ...utterance, words }
  })
}
