import { isFunctionWordInText } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { asksInEnglish } from './questions.ts'

/** Words after which an English sentence cannot end, whatever mark stands there. */
const NEVER_LAST = new Set(
  "the a an my your our their every and or nor because unless whether into onto i'm you're we're they're".split(
    ' ',
  ),
)

/** Words that continue a clause and hardly ever begin a main one. */
const CONTINUING = new Set('which who whose whom because than of'.split(' '))

const SPEECH =
  /^(?:say|says|said|ask|asks|asked|reply|replies|replied|answer|answers|answered|rejoined|cried|shouted|whispered|added|thought|wrote|writes)$/i

const FILLERS = new Set('um umm uh uhm er erm hmm mm mhm'.split(' '))

/**
 * Ends of a clause that need an object, which an indirect question can be: ask, tell me, find out.
 * Verbs that also stand alone (I know, I see) only count as infinitives.
 */
const NEEDS_OBJECT = new RegExp(
  '(?:^|\\s)(?:' +
    '(?:ask(?:s|ed|ing)?|explain(?:s|ed|ing)?|describe[sd]?|describing|determin(?:e|es|ed|ing)|wonder(?:s|ed|ing)?)(?: not)?|' +
    '(?:ask(?:s|ed|ing)?|tell(?:s|ing)?|told|show(?:s|ed|ing)?|teach(?:es|ing)?|taught)(?: not)? (?:me|us|him|her|them|you)|' +
    '(?:find|finds|finding|found|figure|figured|figuring|work|worked|point|pointed) out|' +
    'to (?:know|see|learn|understand|decide|discover|imagine|remember)|(?:depends|depending) on|(?:talk|talked|talking|think|thinking|thought|worried|sure) about' +
    ')$',
  'iu',
)

const SUBJECT =
  '(?:i|you|he|she|it|we|they|this|that|these|those|there|the|my|your|his|her|our|their|its)'
/** A question word before its subject: not a question of its own, which inverts the two. */
const INDIRECT = new RegExp(
  `^(?:(?:what|how|why|who|whom|whether) (?:${SUBJECT} \\p{L}|to \\p{L})|(?:how (?:many|much|long|far|often)|what (?:kind|sort|type) of) )`,
  'iu',
)

/** Returns whether an English sentence cannot end with a word. */
export function cannotEndSentence(text: string): boolean {
  // A capital letter is a name: plan A, vitamin A.
  const { core } = wordPartsOf(text)
  return core !== 'A' && NEVER_LAST.has(core.toLowerCase().replaceAll('’', "'"))
}

/** Returns whether the last of the words introduce a quotation: said the king. */
export function introducesQuote(words: readonly string[]): boolean {
  return words.slice(-4).some((word) => SPEECH.test(wordPartsOf(word).core))
}

/** Returns whether a word after a comma continues its clause, whatever its letter case. */
export function continuesClause(text: string, next: string | undefined): boolean {
  const { core } = wordPartsOf(text)
  // The Times, The Hague: an article with a capital belongs to a name.
  if (/^(?:The|A|An)$/.test(core) && /^\p{Lu}/u.test(next ?? '')) return false
  return isFunctionWordInText(text)
}

/**
 * Returns whether a word of English is a filled pause: um, uh. After digits, "mm" are millimeters;
 * amid words in small letters, "ER" is an abbreviation.
 */
export function isFilledPause(words: readonly { text: string }[], at: number): boolean {
  const { core } = wordPartsOf(words[at]!.text)
  if (!FILLERS.has(core.toLowerCase())) return false
  const neighbors = [words[at - 1], words[at + 1]].map((word) => word?.text ?? '')
  if (core.toLowerCase() === 'mm') return !/\d$/.test(neighbors[0]!)
  // Some recognizers write capitals only.
  return !(/^\p{Lu}+$/u.test(core) && neighbors.some((text) => /\p{Ll}/u.test(text)))
}

/**
 * Returns whether an English sentence that reads `before` goes on with `clause`, although a full
 * stop stands between them. `isSmall`: the recognizer itself went on in small letters.
 */
export function clauseGoesOn(
  before: string,
  clause: string,
  { isSmall }: { isSmall: boolean },
): boolean {
  if (cannotEndSentence(before.slice(before.lastIndexOf(' ') + 1))) return true
  const asks = asksInEnglish(clause)
  if (NEEDS_OBJECT.test(before) && INDIRECT.test(clause) && !asks) return true
  if (!isSmall || asks || /^of course\b/.test(clause)) return false
  const [first = ''] = clause.split(' ')
  return CONTINUING.has(wordPartsOf(first).core)
}
