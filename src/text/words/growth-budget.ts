import type { Transcript } from '../../transcript/transcript.ts'

/**
 * Maximum characters of a replacement: a spelling or a vocabulary entry is a name or a phrase, not
 * a page.
 */
export const MAX_REPLACEMENT = 500
/** Replacements may add this many times the length of a text. */
const GROWTH_FACTOR = 4
/**
 * Replacements may add this many characters more to one utterance: a phrase may expand to a
 * paragraph.
 */
const MAX_PER_UTTERANCE = 2000
/** Replacements may add this many characters more to all utterances together. */
const MAX_IN_ALL = 65_536

/** Replaces words in the transcripts of one session, which arrive one by one. */
export type SessionReplacer = {
  apply(transcript: Transcript): Transcript
  /** Returns the warnings for the user about replacements left out of all transcripts so far. */
  warnings(): string[]
}

/**
 * Bounds what the replacements of one user add to the utterances of one transcript or session:
 * a result, and everything derived from it, must not grow far beyond the speech. Lengths are
 * characters (UTF-16 code units).
 */
export class GrowthBudget {
  #utterance = { originalLength: 0, added: 0 }
  #total = { originalLength: 0, added: 0 }
  #leftOut = 0

  /** The number of replacements refused so far. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Begins the next utterance. `words` are its original words. */
  begin(words: readonly { text: string }[]): void {
    const originalLength = lengthOf(words)
    this.#utterance = { originalLength, added: 0 }
    this.#total.originalLength += originalLength
  }

  /** Returns whether `text` may replace `words`; if so, counts what it adds. */
  allows(words: readonly { text: string }[], text: string): boolean {
    const added = Math.max(0, text.length - lengthOf(words))
    if (
      added > 0 &&
      (exceeds(this.#utterance, added, MAX_PER_UTTERANCE) ||
        exceeds(this.#total, added, MAX_IN_ALL))
    ) {
      this.#leftOut++
      return false
    }
    this.#utterance.added += added
    this.#total.added += added
    return true
  }
}

function exceeds(
  { originalLength, added }: { originalLength: number; added: number },
  additional: number,
  allowance: number,
): boolean {
  return added + additional > GROWTH_FACTOR * originalLength + allowance
}

function lengthOf(words: readonly { text: string }[]): number {
  return words.reduce((sum, { text }) => sum + text.length, 0)
}

/** Returns the warnings about ignored entries and replacements that were left out, if any. */
export function growthWarnings(
  name: string,
  { tooLong, leftOut }: { tooLong: number; leftOut: number },
): string[] {
  const warnings: string[] = []
  if (tooLong > 0) {
    warnings.push(
      `${name}: ${tooLong} of the entries were ignored, because they have more than ${MAX_REPLACEMENT} characters`,
    )
  }
  if (leftOut > 0) {
    warnings.push(
      `${name}: ${leftOut} replacements were left out, because the text would have grown to more than ${GROWTH_FACTOR + 1} times its length`,
    )
  }
  return warnings
}
