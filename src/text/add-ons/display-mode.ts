import { separatorOf } from '../../transcript/separators.ts'
import { type Sentence, splitSentences } from '../words/sentences/sentences.ts'
import type { AddOn } from './add-on.ts'

/** A silence longer than this, in seconds, begins a paragraph. */
const PAUSE = 3
/** Maximum sentences of a paragraph. */
const MAX_SENTENCES = 5

/**
 * The transcript as paragraphs. A paragraph is the speech of one speaker on one channel in one
 * language. It ends at a change of speaker, at a pause of 3 s, or after five sentences.
 */
export const displayMode: AddOn = {
  name: 'display_mode',
  languages: 'all',
  compute(transcript) {
    const results = paragraphs(splitSentences(transcript)).map(paragraphText)
    return { results, isEmpty: results.length === 0 }
  },
}

function paragraphs(sentences: readonly Sentence[]): Sentence[][] {
  const paragraphs: Sentence[][] = []
  for (const sentence of sentences) {
    const open = paragraphs.at(-1)
    if (open && belongs(sentence, open)) open.push(sentence)
    else paragraphs.push([sentence])
  }
  return paragraphs
}

function belongs(sentence: Sentence, open: readonly Sentence[]): boolean {
  const before = open.at(-1)!
  return (
    sentence.channel === before.channel &&
    sentence.speaker === before.speaker &&
    sentence.language === before.language &&
    sentence.start - before.end <= PAUSE &&
    open.length < MAX_SENTENCES
  )
}

function paragraphText(paragraph: readonly Sentence[]): string {
  return paragraph.map(({ text }) => text).join(separatorOf(paragraph[0]!.language))
}
