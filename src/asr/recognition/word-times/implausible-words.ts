import type { Word } from '../../../transcript/transcript.ts'

/**
 * No speech sound is shorter than this, in seconds: the three 10 ms frames that speech aligners
 * such as HTK and Kaldi give each phone at least.
 */
const MIN_PHONE_SECONDS = 0.03
/** Sounds per letter of an English word: "the" has two, "thought" three, "alongside" seven. */
const SOUNDS_PER_LETTER = 0.6
/** Of 6,400 words that were aligned with their text, three in a thousand are shorter than this. */
export const MIN_WORD_SECONDS = 0.04

/**
 * Returns true for a word that is too short to have been spoken: the alignment found no place for
 * it, because it lies elsewhere or was never said.
 */
export function isTooShort({ start, end }: Pick<Word, 'start' | 'end'>): boolean {
  return end - start < MIN_WORD_SECONDS - 1e-6
}

/** The longest phrase that is checked for repetition, in words. */
const MAX_ECHO_WORDS = 8
/** Shorter words, such as digits, "yes" and "very", are often said twice. */
const MIN_ECHO_LETTERS = 6
/** Seconds per letter of the fastest speech: ten syllables a second, of three letters each. */
const FASTEST_LETTER = 0.033

/**
 * Drops a phrase that repeats the one beside it in less time than it can be spoken in: the decoder
 * wrote "Good morning. Good morning." for one greeting, and the alignment found one place for both.
 */
export function dropRepeatedPhrases(words: readonly Word[]): Word[] {
  const kept = [...words]
  for (let length = MAX_ECHO_WORDS; length > 0; length--) {
    for (let i = 0; i + 2 * length <= kept.length; i++) {
      const first = kept.slice(i, i + length)
      const second = kept.slice(i + length, i + 2 * length)
      const isSame = first.every((word, at) => bareText(word) === bareText(second[at]!))
      const isFirst = totalSeconds(first) < totalSeconds(second)
      if (!isSame || !(isFirst ? isEchoOfPhrase(first, second) : isEchoOfPhrase(second, first)))
        continue
      kept.splice(isFirst ? i : i + length, length)
      i--
    }
  }
  return kept
}

function isEchoOfPhrase(phrase: readonly Word[], otherPhrase: readonly Word[]): boolean {
  const seconds = totalSeconds(phrase)
  if (seconds < phrase.length * MIN_WORD_SECONDS) return true
  const letters = phrase.reduce((sum, word) => sum + bareText(word).length, 0)
  if (letters < MIN_ECHO_LETTERS) return false
  return seconds < letters * FASTEST_LETTER && seconds <= totalSeconds(otherPhrase) / 2
}

function bareText({ text }: Word): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

function totalSeconds(words: readonly Word[]): number {
  return words.reduce((sum, { start, end }) => sum + end - start, 0)
}

/**
 * Makes words as long as speech can be. A word grows into the silence before it, then into the one
 * after it, and last into neighbors that are longer than they need be. Words ascend and do not
 * overlap; so do the results.
 */
export function extendShortWords(words: readonly Word[]): Word[] {
  const extended = words.map((word) => ({ ...word }))
  for (const [i, word] of extended.entries()) {
    const before = extended[i - 1]
    const after = extended[i + 1]
    const grow = (side: 'start' | 'end', room: number) => {
      const part = Math.max(0, Math.min(missingSeconds(word), room))
      if (side === 'start') word.start -= part
      else word.end += part
      return part
    }
    grow('start', word.start - (before?.end ?? 0))
    if (after) grow('end', after.start - word.end)
    if (before) before.end -= grow('start', -missingSeconds(before))
    if (after) after.start += grow('end', -missingSeconds(after))
  }
  return separateWords(extended)
}

/** A number with at least this many digits may have been spoken digit by digit. */
const MIN_LONG_NUMBER = 4

/** Returns the digits of a number that may have been spoken digit by digit; 0 for other words. */
export function longNumberDigits(text: string): number {
  const digits = text.match(/\p{N}/gu)?.length ?? 0
  return digits >= MIN_LONG_NUMBER ? digits : 0
}

/** Most seconds per digit of a number that is dictated without pauses. */
const SECONDS_PER_DIGIT = 0.6

/**
 * Extends long numbers over the time before them, then over the time after them, as far as they may
 * have been spoken: the alignment finds one place for "801-715-0827", which took seconds.
 */
export function extendLongNumbers(words: readonly Word[], seconds: number): Word[] {
  return words.map((word, i) => {
    // A number that was never spoken has no place in the audio, so it stays short.
    if (isTooShort(word) || longNumberDigits(word.text) === 0) return word
    const longest = longNumberDigits(word.text) * SECONDS_PER_DIGIT
    const missing = Math.max(0, longest - (word.end - word.start))
    const timeBefore = Math.max(0, word.start - (words[i - 1]?.end ?? 0))
    const timeAfter = Math.max(0, (words[i + 1]?.start ?? seconds) - word.end)
    const before = Math.min(missing, timeBefore)
    const after = Math.min(missing - before, timeAfter)
    return { ...word, start: word.start - before, end: word.end + after }
  })
}

/** Extends words that are still too short to the left, and cuts the words before them. */
function separateWords(words: Word[]): Word[] {
  for (let i = words.length - 1; i >= 0; i--) {
    const word = words[i]!
    const before = words[i - 1]
    if (isTooShort(word)) word.start = Math.max(0, word.end - MIN_WORD_SECONDS)
    if (before && before.end > word.start) {
      before.end = word.start
      before.start = Math.min(before.start, before.end)
    }
  }
  return words
}

/** Returns by how many seconds a word is too short; negative when it is longer than it need be. */
function missingSeconds({ text, start, end }: Word): number {
  const letters = text.match(/\p{L}|\p{N}/gu)?.length ?? 1
  const shortest = Math.max(MIN_WORD_SECONDS, letters * SOUNDS_PER_LETTER * MIN_PHONE_SECONDS)
  return shortest - (end - start)
}
