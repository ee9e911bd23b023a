import type { Lexeme } from '../../entities/digits/spoken-digits.ts'
import type { Entity, EntityType } from '../../entities/entity-types.ts'
import { listSpelling } from '../../entities/names/accents.ts'
import { isMonthName, isRareWord } from '../../entities/names/name-words.ts'
import { isFunctionWord } from '../../vocabulary/common-words.ts'

/** The names of a transcript, in lower case and without accents. */
type Names = ReadonlyMap<string, EntityType>

/** Names with fewer letters are not searched for in spelled letters, nor in words with an s. */
const MIN_NAME_CHARS = 3
const MAX_NAME_CHARS = 20

/**
 * Finds further occurrences of known names: in any letter case, in the plural ("the Joneses"), and
 * spelled. It errs toward hiding too many; only words of grammar, months and, in lower case,
 * everyday words stay.
 */
export function findRepeatedNames(text: string, words: readonly Lexeme[], names: Names): Entity[] {
  if (names.size === 0) return []
  const isLowerCase = !/\p{Lu}/u.test(text.replace(/\bI\b/g, ''))
  const foundNames: Entity[] = []
  for (const word of words) {
    const lower = listSpelling(word.text)
    const type = formsOf(lower)
      .map((form) => names.get(form))
      .find(Boolean)
    if (!type || !isNameHere(text, { word, lower, isLowerCase, names })) continue
    foundNames.push({ type, from: word.from, to: word.to, score: 0.05 })
  }
  return [...foundNames, ...findLetters(text, words, names)]
}

/** Returns a word and the singulars that it may be the plural of. */
function formsOf(lower: string): string[] {
  const stems = [lower.replace(/s$/, ''), lower.replace(/es$/, '')]
  return [lower, ...stems.filter((stem) => stem !== lower && stem.length >= MIN_NAME_CHARS)]
}

type NameOccurrence = { word: Lexeme; lower: string; isLowerCase: boolean; names: Names }

function isNameHere(text: string, { word, lower, isLowerCase, names }: NameOccurrence): boolean {
  const textBefore = text.slice(Math.max(0, word.from - 12), word.from)
  const isCapital = /^\p{Lu}/u.test(word.text)
  if (!isCapital && !isLowerCase) {
    return lower.length >= MIN_NAME_CHARS && isRareWord(lower) && !/\ban? $/i.test(textBefore)
  }
  if (isMonthName(lower) && seasonBefore.test(textBefore)) return false
  if (!isFunctionWord(lower) && !isMonthName(lower) && !interjections.test(lower)) return true
  if (!isCapital) return false
  const begins = /(?:^|[.!?…]["'”’)]*\s+)$/.test(textBefore)
  return !begins || (!isGrammar(lower) && isNamed(text.slice(word.to, word.to + 40), names))
}

const seasonBefore =
  /\b(?:in|since|until|by|of|before|after|during|last|next|this|mid|late|early)[\s-]+$/i
const interjections =
  /^(?:ah|oh|ow|uh|um|huh|hey|hi|hello|yes|yeah|yep|no|nope|ok|okay|well|now|please|thanks|sorry|right|sure)$/

/**
 * Returns whether a word is a function word, which is never a name. Months, and verbs such as
 * "Will", may be one.
 */
function isGrammar(lower: string): boolean {
  return !isMonthName(lower) && !/^(?:will|can|do|should|would|have)$/.test(lower)
}

/**
 * Returns whether the text after a word shows that it is a name: the person is addressed, has or
 * does something, or another name follows.
 */
function isNamed(right: string, names: Names): boolean {
  const next = /^\s+(\p{Lu}\p{L}*)/u.exec(right)?.[1]
  if (next && names.has(listSpelling(next))) return true
  return /^(?:['’]s\b|[?!.]|,(?! \d)|\s+(?:is|was|has|had|says?|said|tells?|told|asks?|asked|thinks|thought|wants|wanted|knows|knew|called|calls|and I)\b)/i.test(
    right,
  )
}

/** Finds sequences of letters that spell a known name: "K-R-O-L", "s o k o l o f f". */
function findLetters(text: string, words: readonly Lexeme[], names: Names): Entity[] {
  return rowsOf(text, words).flatMap((row) => {
    const letters = row.map((letter) => listSpelling(letter.text)).join('')
    const foundNames: Entity[] = []
    for (let at = 0; at < row.length; at++) {
      for (
        let count = Math.min(MAX_NAME_CHARS, row.length - at);
        count >= MIN_NAME_CHARS;
        count--
      ) {
        const type = names.get(letters.slice(at, at + count))
        if (!type) continue
        foundNames.push({ type, from: row[at]!.from, to: row[at + count - 1]!.to, score: 0.05 })
        at += count - 1
        break
      }
    }
    return foundNames
  })
}

function rowsOf(text: string, words: readonly Lexeme[]): Lexeme[][] {
  const rows: Lexeme[][] = []
  let previous: Lexeme | undefined
  for (const word of words) {
    const isLetter = /^\p{L}$/u.test(word.text)
    if (isLetter && previous && /^[\s,.-]{1,3}$/.test(text.slice(previous.to, word.from))) {
      rows.at(-1)!.push(word)
    } else if (isLetter) rows.push([word])
    previous = isLetter ? word : undefined
  }
  return rows
}
