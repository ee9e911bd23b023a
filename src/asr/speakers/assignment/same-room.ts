import { lettersAndDigits } from '../../../transcript/letters-and-digits.ts'
import type { Word } from '../../../transcript/transcript.ts'

/** A word on two channels is the same if it begins on both within this time, in seconds. */
const SAME_WORD_SECONDS = 0.3
/**
 * Share of the words of a channel that others have too, from which on it counts as the same room.
 */
const SAME_ROOM_SHARE = 0.25
/** Minimum number of shared words: a side that hardly speaks may say "yes" along with the other. */
const MIN_SHARED_WORDS = 5

/**
 * Checks whether channels are microphones in one room: at least a quarter of the words of one, and
 * no fewer than five, occur at the same time on another. Calls with a channel for each side share
 * hardly any, even when both speak at once. Words of each channel ascend.
 */
export function isSameRoom(channels: readonly (readonly Word[])[]): boolean {
  return channels.some((words, i) => {
    const shared = channels.map((otherWords, j) => (i === j ? 0 : countShared(words, otherWords)))
    return Math.max(...shared) >= Math.max(MIN_SHARED_WORDS, SAME_ROOM_SHARE * words.length)
  })
}

function countShared(words: readonly Word[], otherWords: readonly Word[]): number {
  let first = 0
  let shared = 0
  for (const { text, start } of words) {
    while (first < otherWords.length && otherWords[first]!.start < start - SAME_WORD_SECONDS)
      first++
    for (
      let i = first;
      i < otherWords.length && otherWords[i]!.start <= start + SAME_WORD_SECONDS;
      i++
    ) {
      if (lettersAndDigits(otherWords[i]!.text) !== lettersAndDigits(text)) continue
      shared++
      break
    }
  }
  return shared
}
