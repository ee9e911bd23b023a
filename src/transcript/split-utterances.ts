import type { RecognitionInfo, Utterance, Word } from './transcript.ts'

/** A pause that ends an utterance, in seconds. */
const UTTERANCE_PAUSE = 0.8
/** A pause that ends an utterance when the last word ended a sentence. */
const SENTENCE_PAUSE = 0.35
/**
 * An utterance longer than this, in seconds or words, is cut at its best pause: readers can follow
 * this length at a glance.
 */
const MAX_SECONDS = 15
const MAX_WORDS = 40

/**
 * Cuts the words of one channel into utterances at pauses, and again where one would be longer than
 * a reader wants. Words must ascend; none is lost or changed.
 */
export function splitUtterances(
  words: readonly Word[],
  commonFields: Pick<Utterance, 'channel' | keyof RecognitionInfo>,
): Utterance[] {
  return splitAtPauses(words)
    .flatMap((run) => splitLong(run, run.map(punctuationScore)))
    .map((wordsOfOne) => ({ ...commonFields, words: wordsOfOne }))
}

function splitAtPauses(words: readonly Word[]): Word[][] {
  const runs: Word[][] = []
  let previous: Word | undefined
  for (const word of words) {
    const pause = previous ? word.start - previous.end : Number.POSITIVE_INFINITY
    const limit = previous && endsSentence(previous) ? SENTENCE_PAUSE : UTTERANCE_PAUSE
    if (pause >= limit) runs.push([])
    runs.at(-1)!.push(word)
    previous = word
  }
  return runs
}

/**
 * Splits a run in two until each part is short enough, where a cut reads best; `punctuationScores`
 * has the score of each word.
 */
function splitLong(words: Word[], punctuationScores: readonly number[]): Word[][] {
  const seconds = words.at(-1)!.end - words[0]!.start
  if (words.length < 2 || (seconds <= MAX_SECONDS && words.length <= MAX_WORDS)) return [words]
  const cut = bestUtteranceCut(words, punctuationScores)
  return [
    ...splitLong(words.slice(0, cut), punctuationScores.slice(0, cut)),
    ...splitLong(words.slice(cut), punctuationScores.slice(cut)),
  ]
}

/**
 * Returns the index of the word that begins the second part. Sentence ends (1), commas (0.4) and
 * the pause in seconds, 1 at most, count for a cut, and its distance from the middle counts against
 * it.
 */
function bestUtteranceCut(words: readonly Word[], punctuationScores: readonly number[]): number {
  const middle = (words[0]!.start + words.at(-1)!.end) / 2
  const half = Math.max(middle - words[0]!.start, 1e-3)
  let best = 1
  let bestScore = Number.NEGATIVE_INFINITY
  for (let i = 1; i < words.length; i++) {
    const { start } = words[i]!
    const pause = Math.min(start - words[i - 1]!.end, 1)
    const score = punctuationScores[i - 1]! + pause - Math.abs(start - middle) / half
    if (score > bestScore) [best, bestScore] = [i, score]
  }
  return best
}

/** Returns how well a cut after a word reads by its punctuation, from 0 to 1. */
function punctuationScore(word: Word): number {
  if (endsSentence(word)) return 1
  return /[,;:]$/.test(word.text) ? 0.4 : 0
}

function endsSentence(word: Word): boolean {
  return /[.!?…]["'”’)]?$/.test(word.text)
}
