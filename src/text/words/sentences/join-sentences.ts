import type { Transcript, Utterance, Word } from '../../../transcript/transcript.ts'
import { capitalize, capitalizePronoun, lowerFunctionWord } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf } from './abbreviations.ts'
import {
  cannotEndSentence,
  clauseGoesOn,
  continuesClause,
  introducesQuote,
  isFilledPause,
} from './clause-continuation.ts'
import { tidyPunctuation } from './punctuation-marks.ts'
import { asksInEnglish } from './questions.ts'

/** A longer pause, in seconds, ends an utterance whatever its words say. */
const MAX_PAUSE_SECONDS = 1.5
/** An utterance does not grow beyond what `splitUtterances` allows. */
const MAX_SECONDS = 15
const MAX_WORDS = 40

const MARK = /[.!?…]$/

/**
 * Makes letter case and punctuation agree where recognition was cut at a pause. A recognizer ends
 * each piece with a full stop and begins the next with a capital, also inside a sentence; and
 * sometimes it goes on in small letters after a full stop. English grammar decides: where the
 * sentence cannot end, or the next words cannot begin one, the full stop goes and the utterances
 * are joined; otherwise the next word gets a capital. Only case, punctuation and the borders of
 * utterances change; words, times and confidences stay.
 */
export function joinSentences(transcript: Transcript): Transcript {
  const joined: Utterance[] = []
  const open = new Map<number, Utterance>()
  for (const { words, ...source } of transcript.utterances) {
    const isEnglish = source.language === 'en' && isCased(words)
    const utterance = { ...source, words: words.map((word) => tidied(word, source.language)) }
    if (isEnglish) for (const word of utterance.words) word.text = capitalizePronoun(word.text)
    for (let at = 1; at < words.length; at++) settle(utterance, at, { isInside: true })
    const last = open.get(utterance.channel)
    if (last && joinAdjacent(last, utterance)) continue
    joined.push(utterance)
    if (words.length > 0) open.set(utterance.channel, utterance)
  }
  return { ...transcript, utterances: joined }
}

function tidied(word: Word, language: string): Word {
  return { ...word, text: tidyPunctuation(word.text, language) }
}

/** Appends an utterance to the one before it on its channel, if its sentence goes on there. */
function joinAdjacent(last: Utterance, next: Utterance): boolean {
  const [before, first, end] = [last.words.at(-1)!, next.words[0], next.words.at(-1)]
  if (!first || !end) return false
  const isOthers = last.language !== next.language || last.speaker !== next.speaker
  if (isOthers || first.start - before.end >= MAX_PAUSE_SECONDS) {
    const words = [...last.words, ...next.words]
    const hasEnded = sentenceMark(before.text, last.language) !== undefined
    if (hasEnded) capitalizeAfter(before, first, { ...next, words })
    return false
  }
  const at = last.words.length
  const both = { ...last, words: [...last.words, ...next.words].map((word) => ({ ...word })) }
  const goesOn = settle(both, at, { isInside: false })
  const fits = at + next.words.length <= MAX_WORDS && end.end - last.words[0]!.start <= MAX_SECONDS
  if (!goesOn || !fits) {
    // A sentence may go on in the next utterance; the marks and the case say so there, too.
    for (const [i, word] of both.words.entries()) {
      const original = i < at ? last.words[i]! : next.words[i - at]!
      original.text = word.text
    }
    return false
  }
  if (last.speakerConfidence !== undefined && next.speakerConfidence !== undefined) {
    const sum = last.speakerConfidence * at + next.speakerConfidence * next.words.length
    last.speakerConfidence = sum / both.words.length
  }
  last.words = both.words
  return true
}

/**
 * Settles the border before the word at `at`: whether a sentence ends there, and what that means
 * for its mark and the case of the word. Returns whether the sentence goes on.
 */
function settle(utterance: Utterance, at: number, place: { isInside: boolean }): boolean {
  const { words, language } = utterance
  const [previous, next] = [words[at - 1]!, words[at]!]
  const mark = sentenceMark(previous.text, language)
  if (mark === undefined) return settleUnmarked(utterance, at, place)
  if (language === 'en' && mark === '.' && sentenceGoesOn(words, at)) {
    previous.text = previous.text.slice(0, -1)
    next.text = lowerFunctionWord(next.text)
    return true
  }
  capitalizeAfter(previous, next, utterance)
  return false
}

/** Capitalizes the word after the end of a sentence, unless that trails off. */
function capitalizeAfter(previous: Word, next: Word, { words, language }: Utterance): void {
  if (!isSmall(next.text) || /(?:\.\.|…)$/.test(previous.text) || !isCased(words)) return
  next.text = capitalize(next.text, language)
}

/**
 * Capitalizes the first word of an utterance where the word before it, `before`, ends a sentence.
 */
export function capitalizeBeginning({ words, language }: Utterance, before: string): void {
  const [first] = words
  const mark = sentenceMark(before, language)
  if (!first || mark === undefined || mark === '…' || !isSmall(first.text)) return
  first.text = capitalize(first.text, language)
}

/** Returns the mark with which a word ends its sentence, or undefined where none does. */
function sentenceMark(text: string, language: string): string | undefined {
  const mark = MARK.exec(text)?.[0]
  if (mark === undefined) return undefined
  if (/(?:\.\.|…)$/.test(text)) return '…'
  const { core } = wordPartsOf(text)
  if (mark === '.' && (core.length < 2 || abbreviationOf(core, language))) return undefined
  return mark
}

/** Settles a border without a mark: the sentence goes on unless a capital starts another one. */
function settleUnmarked(
  { words, language }: Utterance,
  at: number,
  { isInside }: { isInside: boolean },
): boolean {
  const [previous, next] = [words[at - 1]!, words[at]!]
  if (/[.!?…]["'”’)]*$/.test(previous.text)) return false
  if (language === 'en' && isInside && hasWrongCapital(words, at)) {
    next.text = lowerFunctionWord(next.text)
  }
  return isSmall(next.text) && isCased(words)
}

/** Returns whether a capital only says that the recognizer began a new piece of audio there. */
function hasWrongCapital(words: readonly Word[], at: number): boolean {
  const before = words.slice(0, at).map(({ text }) => text)
  const [previous, next] = [before.at(-1)!, words[at]!]
  if (isFilledPause([next], 0)) return true
  if (!/,$/.test(previous) && !cannotEndSentence(previous)) return false
  return continuesClause(next.text, words[at + 1]?.text) && !introducesQuote(before)
}

function isSmall(text: string): boolean {
  return /^["'“‘(]*\p{Ll}[\p{Ll}'’-]*\P{L}*$/u.test(text)
}

/** Returns whether a text has capitals at all: some recognizers write none. */
function isCased(words: readonly Word[]): boolean {
  return words.some(({ text }) => /^\P{L}*\p{Lu}/u.test(text))
}

/** Returns whether an English sentence goes on after a full stop, by the words around it. */
function sentenceGoesOn(words: readonly Word[], at: number): boolean {
  const before = wordsToText(words.slice(sentenceStart(words, at), at)).slice(0, -1)
  const end = words.findIndex(({ text }, i) => i >= at && MARK.test(text))
  const after = wordsToText(words.slice(at, end < 0 ? words.length : end + 1))
  const clause = after.replace(MARK, '')
  if (!clauseGoesOn(before, clause, { isSmall: isSmall(words[at]!.text) })) return false
  const last = words[end < 0 ? words.length - 1 : end]!
  if (/\?$/.test(last.text) && !asksInEnglish(`${before} ${clause}`)) {
    last.text = last.text.replace(/\?$/, '.')
  }
  return true
}

function sentenceStart(words: readonly Word[], at: number): number {
  return words.findLastIndex(({ text }, i) => i < at - 1 && MARK.test(text)) + 1
}

function wordsToText(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ')
}
