import { AFTER_NUMBER, COUNTED } from '../number-context.ts'
import { parseSpokenNumber } from '../number-words.ts'

/** After these, "one ten" is 110; "two fifty" of sugar may be its price. */
const BODY_VALUE =
  / (?:heart rate|pulse|(?:blood|my|his|her) (?:sugar|glucose|weight)|weigh(?:s|ed)?)(?: (?:is|was|of|about|around))*$/

/**
 * Returns whether "one ten" is a value of a body: her pulse is one ten, he weighs one eighty. The
 * words before it are in lower case, and the next word is the one after it.
 */
export function isBodyValue(preceding: readonly string[], next: string): boolean {
  const isFollowed = AFTER_NUMBER.test(next) || COUNTED.test(next) || parseSpokenNumber([next])
  return !isFollowed && BODY_VALUE.test(` ${preceding.join(' ')}`)
}
