import type { Utterance } from '../../transcript/transcript.ts'

/** Marks that end a sentence, with what may follow them. */
const SENTENCE_END = /[.!?…。！？।؟]["'”’»」』)\]]*$/u
/** A longer pause, in seconds, ends a sentence whatever its words say. */
const MAX_PAUSE_SECONDS = 2
/** A sentence that never ends is cut here. */
const MAX_WORDS = 60

/**
 * Joins utterances whose sentence goes on in the next one of their speaker, so that a translator
 * gets whole sentences. The others stay as they are.
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
