import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'

/** Returns the text of a transcript for a language model, with one line per utterance. */
export function plainTranscript({ utterances }: Transcript): string {
  return utterances.map(plainText).join('\n')
}

/** Returns the text of an utterance. */
export function plainText({ words, language }: Utterance): string {
  return words
    .map(({ text }) => text)
    .join(separatorOf(language))
    .trim()
}
