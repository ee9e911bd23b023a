import type { Entity } from '../entity-types.ts'
import { leadPattern, precedingText } from '../matching/matching.ts'
import { isOrdinaryWord } from '../names/name-words.ts'

const number =
  '(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|\\d{1,8})'
const row = new RegExp(
  `(?<![\\p{L}\\d])(?!${number}\\b)[\\p{L}][\\p{L}\\d]{0,40}(?: (?:dot|underscore|dash|hyphen|minus|plus) [\\p{L}\\d]{1,40}){0,6}(?:[ -]${number}\\b){0,8}(?=\\s*(?:[.,?!]|$))`,
  'giu',
)
const cue = new RegExp(
  `\\be-?mail(?: address)?(?:\\?|[^.?!]{0,20}(?:\\?| is\\b| starts with\\b| begins with\\b))${partCue()}${leadPattern}`,
  'iu',
)

/** What people say after a question was answered: "Your email? Okay, and …". */
const GOES_ON =
  /^(?:ok|okay|yeah|yep|yup|nope|nah|alright|gotcha|awesome|hmm|mm|mhm|um|uh|er|ah|aha|hi)$/i

/**
 * Finds the part before "at" alone, where an e-mail address is requested or announced: "It's john
 * dot smith."
 */
export function findMailParts(text: string): Entity[] {
  if (!/e-?mail/i.test(text)) return []
  return Array.from(text.matchAll(row), ({ 0: phrase, index }) => {
    const isWord = isOrdinaryWord(phrase.toLowerCase()) || GOES_ON.test(phrase)
    const isClear = / /.test(phrase) || /\d/.test(phrase) || !isWord
    if (!isClear || !cue.test(precedingText(text, index, 80))) return []
    return [{ type: 'EMAIL_ADDRESS' as const, from: index, to: index + phrase.length, score: 0.7 }]
  }).flat()
}

/**
 * Returns the source of a pattern for the words between a question and its response, besides
 * fillers: "The first part is".
 */
function partCue(): string {
  return '(?:[\\s,.]*(?:the )?(?:first|local) (?:part|bit)(?: of (?:it|that))?(?: is|:)?)?'
}
