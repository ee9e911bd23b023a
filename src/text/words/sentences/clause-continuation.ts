import { isFunctionWordInText } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { asksInEnglish } from './questions.ts'

/** Words that need a noun after them. */
const DETERMINERS = 'the a an my your our their every'.split(' ')
/** Words that cannot end an English statement, whatever punctuation follows them. */
const NEVER_LAST = new Set([
  ...DETERMINERS,
  ..."and or nor because unless whether into onto i'm you're we're they're".split(' '),
])

/** Words that continue a clause and hardly ever begin a main clause. */
const CONTINUING = new Set('which who whose whom because than of'.split(' '))

const SPEECH_VERB =
  /^(?:say|says|said|ask|asks|asked|reply|replies|replied|answer|answers|answered|rejoined|cried|shouted|whispered|added|thought|wrote|writes)$/i

const FILLERS = new Set('um umm uh uhm er erm hmm mm mhm'.split(' '))

/**
 * Clause ends that need an object, which can be an indirect question: ask, tell me, find out. Verbs
 * that also need none (I know, I see) count only as infinitives.
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
/** The beginning of an indirect question: the subject follows the question word, not the verb. */
const INDIRECT = new RegExp(
  `^(?:(?:what|how|why|who|whom|whether) (?:${SUBJECT} \\p{L}|to \\p{L})|(?:how (?:many|much|long|far|often)|what (?:kind|sort|type) of) )`,
  'iu',
)

/** Returns whether an English sentence cannot end with a word. */
export function cannotEndSentence(text: string): boolean {
  // A capital "A" is a name: plan A, vitamin A.
  const { core } = wordPartsOf(text)
  return core !== 'A' && NEVER_LAST.has(core.toLowerCase().replaceAll('’', "'"))
}

/** Returns whether an English question cannot end with a word; "And?" and "Or?" are questions. */
export function cannotEndQuestion(text: string): boolean {
  return cannotEndSentence(text) && DETERMINERS.includes(wordPartsOf(text).core.toLowerCase())
}

/** Returns whether the last four words introduce a quotation, such as "said the king". */
export function introducesQuote(words: readonly string[]): boolean {
  return words.slice(-4).some((word) => SPEECH_VERB.test(wordPartsOf(word).core))
}

/** Returns whether a word after a comma continues its clause, whatever its letter case. */
export function continuesClause(text: string, next: string | undefined): boolean {
  const { core, after } = wordPartsOf(text)
  // An article with a capital belongs to a name (The Times, The Hague), and none ends a sentence.
  if (/^(?:The|A|An)$/.test(core) && /^\p{Lu}/u.test(next ?? '')) return false
  if (core === 'A' && /^[.!?]/.test(after)) return false
  return isFunctionWordInText(text)
}

/**
 * Returns whether an English word is a filled pause, such as um and uh. After digits, "mm" means
 * millimeters; beside words in lower case, "ER" is an abbreviation.
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
 * Returns whether the English sentence `before` continues with `clause`, although a full stop
 * separates them. `isLowerCase` is whether the recognizer began the clause in lower case.
 */
export function clauseContinues(
  before: string,
  clause: string,
  { isLowerCase }: { isLowerCase: boolean },
): boolean {
  if (cannotEndSentence(before.slice(before.lastIndexOf(' ') + 1))) return true
  const isQuestion = asksInEnglish(clause)
  if (NEEDS_OBJECT.test(before) && INDIRECT.test(clause) && !isQuestion) return true
  if (!isLowerCase || isQuestion || /^of course\b/.test(clause)) return false
  const [first = ''] = clause.split(' ')
  return CONTINUING.has(wordPartsOf(first).core)
}
