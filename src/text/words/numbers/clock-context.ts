import type { Word } from '../../../transcript/transcript.ts'
import { isFunctionWordInText } from '../letter-case.ts'
import { followsHour } from '../sentences/abbreviations.ts'
import { wordPartsOf } from '../word-parts.ts'
import { parseSpokenNumber } from './number-words.ts'

/** The words of a time of day: `end` is the index of the word after it. */
export type ClockPlace = { at: number; end: number }

/** Courts and squares are seldom addresses: at nine thirty District Court opened. */
const STREET =
  /^(?:street|avenue|road|lane|boulevard|drive|place|way|terrace|parkway|st|ave|rd|blvd)$/
/** The longest name of a street: Martin Luther King Jr. Boulevard. */
const MAX_STREET_WORDS = 5
const AFTER_TIME =
  /^(?:today|tonight|tomorrow|yesterday|sharp|daily|every|each|noon|midnight|utc|gmt|[ap]\.?m|o'clock)$/
const PART_OF_DAY = /^(?:morning|afternoon|evening)$/
const DAY_OF_TIME = /^(?:tomorrow|tonight)$/
const BEFORE_END = /^(?:to|until|till|through|and)$/

/** Returns whether a name of a street begins at a word, as in "eight thirty Elm Street". */
export function isStreetAt(words: readonly Word[], at: number): boolean {
  if (endsPhrase(words[at - 1])) return false
  for (let i = at; i < at + MAX_STREET_WORDS; i++) {
    const { core, after } = wordPartsOf(words[i]?.text ?? '')
    if (!/^(?:\p{Lu}|\d+(?:st|nd|rd|th)$)/u.test(core)) return false
    if (i > at && STREET.test(core.toLowerCase())) return true
    if (/[,!?]/.test(after)) return false
  }
  return false
}

/** Returns whether "in the morning" or the like follows, before which any minutes are a time. */
export function isBeforePartOfDay(words: readonly Word[], { end }: ClockPlace): boolean {
  if (endsPhrase(words[end - 1])) return false
  const following = [0, 1, 2].map((i) => coreAt(words, end + i))
  return following[0] === 'in' && following[1] === 'the' && PART_OF_DAY.test(following[2]!)
}

/** Returns whether "tomorrow" or "tonight" follows, or the time is one end of an interval. */
export function isPlacedInTime(words: readonly Word[], place: ClockPlace): boolean {
  const isBeforeDay =
    !endsPhrase(words[place.end - 1]) && DAY_OF_TIME.test(coreAt(words, place.end))
  return isBeforeDay || isFirstOfInterval(words, place) || isLastOfInterval(words, place)
}

/** "From nine thirty to five", but not "from nine thirty to five people". */
function isFirstOfInterval(words: readonly Word[], { at, end }: ClockPlace): boolean {
  if (endsPhrase(words[end - 1]) || !isIntervalLink(coreAt(words, at - 1), coreAt(words, end)))
    return false
  const hour = hourEnd(words, end + 1)
  return hour !== undefined && isAfterTime(words, hour)
}

/** "From eight to five thirty" and "from nine thirty to five thirty". */
function isLastOfInterval(words: readonly Word[], { at, end }: ClockPlace): boolean {
  if (!isAfterTime(words, end)) return false
  return [at - 2, at - 3, at - 4].some((from) => {
    const isHour = from > 0 && hourEnd(words, from) === at - 1
    return isHour && isIntervalLink(coreAt(words, from - 1), coreAt(words, at - 1))
  })
}

function isIntervalLink(before: string, link: string): boolean {
  if (!BEFORE_END.test(link)) return false
  return before === (link === 'and' ? 'between' : 'from')
}

/** Returns the index after an hour, with minutes if there are any: nine, nine thirty, 9:30. */
function hourEnd(words: readonly Word[], at: number): number | undefined {
  const core = coreAt(words, at)
  if (/^(?:noon|midnight|\d{1,2}:[0-5]\d)$/.test(core)) return at + 1
  const hour = /^\d{1,2}$/.test(core) ? Number(core) : cardinalOf(core)
  if (hour === undefined || hour < 1 || hour > 12) return undefined
  if (endsPhrase(words[at])) return at + 1
  const minutesAt = coreAt(words, at + 1) === 'oh' ? at + 2 : at + 1
  if (cardinalOf(coreAt(words, minutesAt)) === undefined) return at + 1
  const hasOnes =
    !endsPhrase(words[minutesAt]) && (cardinalOf(coreAt(words, minutesAt + 1)) ?? 10) < 10
  return minutesAt + (hasOnes ? 2 : 1)
}

/** Returns whether the words from `at` on do not count what the number before them is. */
function isAfterTime(words: readonly Word[], at: number): boolean {
  const next = words[at]
  if (!next || endsPhrase(words[at - 1])) return true
  const core = coreAt(words, at)
  return AFTER_TIME.test(core) || followsHour(core) || isFunctionWordInText(next.text)
}

function cardinalOf(core: string): number | undefined {
  const number = parseSpokenNumber(core.split('-'))
  return number && !number.isOrdinal ? number.value : undefined
}

function endsPhrase(word: Word | undefined): boolean {
  return word !== undefined && wordPartsOf(word.text).after !== ''
}

function coreAt(words: readonly Word[], at: number): string {
  return wordPartsOf(words[at]?.text ?? '').core.toLowerCase()
}
