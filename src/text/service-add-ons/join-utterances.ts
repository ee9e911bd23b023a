import type { Utterance } from '../../transcript/transcript.ts'

/** Marks that end a sentence, and quotes or brackets after them. */
const SENTENCE_END = /[.!?…。！？।؟]["'”’»」』)\]]*$/u
/** A longer pause, in seconds, ends a sentence whatever its words say. */
const MAX_PAUSE_SECONDS = 2
/** Maximum words of a joined sentence. */
const MAX_WORDS = 60

/**
 * Joins utterances whose sentence continues in the next one of the same speaker, so that a
 * translator gets whole sentences. Other utterances stay unchanged.
 */
export function joinUtterances(utterances: readonly Utterance[]): Utterance[] {
  const joined: Utterance[] = []
  for (const utterance of utterances) {
    const last = joined.at(-1)
    if (last && continuesUtterance(last, utterance)) {
      joined[joined.length - 1] = { ...last, words: [...last.words, ...utterance.words] }
    } else joined.push(utterance)
  }
  return joined
}

function continuesUtterance(last: Utterance, next: Utterance): boolean {
  const [end, first] = [last.words.at(-1), next.words[0]]
  if (!end || !first || SENTENCE_END.test(end.text)) return false
  return (
    last.channel === next.channel &&
    last.speaker === next.speaker &&
    last.language === next.language &&
    first.start >= end.end &&
    first.start - end.end <= MAX_PAUSE_SECONDS &&
    last.words.length + next.words.length <= MAX_WORDS
  )
}
