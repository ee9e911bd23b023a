import type { Transcript, Utterance, Word } from '../../../transcript/transcript.ts'
import { capitalize, capitalizePronoun, lowerFunctionWord } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf } from './abbreviations.ts'
import {
  cannotEndQuestion,
  cannotEndSentence,
  clauseContinues,
  continuesClause,
  introducesQuote,
  isFilledPause,
} from './clause-continuation.ts'
import { tidyPunctuation } from './punctuation-marks.ts'
import { asksInEnglish } from './questions.ts'

/** A pause of this many seconds always ends a sentence. */
const MAX_PAUSE_SECONDS = 1.5
/** The limits of `splitUtterances`, in seconds and words, which a joined utterance must respect. */
const MAX_SECONDS = 15
const MAX_WORDS = 40

/** Where a recognizer writes a capital after a pause of this many seconds, it began a sentence. */
const SENTENCE_PAUSE_SECONDS = 0.4

/** A recording that goes on this long after its last word does not end inside a sentence. */
const FINAL_SILENCE_SECONDS = 0.3
/** Fewer words than this may be no sentence. */
const MIN_SENTENCE_WORDS = 3

const FINAL_MARK = /[.!?…]$/

/**
 * Makes letter case and punctuation agree where recognition was split at a pause. A recognizer ends
 * each segment with a full stop and begins the next with a capital, even inside a sentence, and
 * sometimes it continues in lower case after a full stop, or leaves the full stop out. English
 * grammar decides: if the sentence cannot end there, or the next words cannot begin one, the full
 * stop is removed and the utterances are joined; otherwise the next word gets a capital. Only case,
 * punctuation and the boundaries of utterances change; words, times and confidence stay. `isCased`
 * is whether the recognizer writes capitals at all. With the length of the recording, `seconds`,
 * the last English sentence of each channel gets its mark, unless the recording ends with it.
 */
export function joinSentences(
  transcript: Transcript,
  {
    isCased = transcript.utterances.some(({ words }) => hasCapitals(words)),
    seconds = 0,
  }: { isCased?: boolean; seconds?: number | undefined } = {},
): Transcript {
  const joined: Utterance[] = []
  const lastByChannel = new Map<number, Utterance>()
  for (const { words, ...source } of transcript.utterances) {
    const utterance = {
      ...source,
      words: words.map((word) => withTidyPunctuation(word, source.language)),
    }
    if (isCased && source.language === 'en') {
      for (const word of utterance.words) word.text = capitalizePronoun(word.text)
    }
    for (let at = 1; at < words.length; at++) resolveBoundary(utterance, at, { isInside: true })
    const last = lastByChannel.get(utterance.channel)
    if (last && joinAdjacent(last, utterance)) continue
    joined.push(utterance)
    if (words.length > 0) lastByChannel.set(utterance.channel, utterance)
  }
  if (isCased) for (const last of lastByChannel.values()) addFinalMark(last, seconds)
  return { ...transcript, utterances: joined }
}

function addFinalMark({ words, language }: Utterance, seconds: number): void {
  const last = words.at(-1)!
  const sentence = words.slice(sentenceStart(words, words.length))
  const isSentence = sentence.length >= MIN_SENTENCE_WORDS && canEndSentence(last.text)
  if (language !== 'en' || !isSentence || seconds - last.end < FINAL_SILENCE_SECONDS) return
  last.text += markOf(sentence)
}

function withTidyPunctuation(word: Word, language: string): Word {
  return { ...word, text: tidyPunctuation(word.text, language) }
}

/**
 * Appends an utterance to the one before it on its channel if the sentence continues and both fit
 * into one utterance; otherwise only corrects marks and case at their boundary. Returns whether it
 * was appended.
 */
function joinAdjacent(last: Utterance, next: Utterance): boolean {
  const [before, first, end] = [last.words.at(-1)!, next.words[0], next.words.at(-1)]
  if (!first || !end) return false
  const isOtherSource = last.language !== next.language || last.speaker !== next.speaker
  if (isOtherSource || first.start - before.end >= MAX_PAUSE_SECONDS) {
    const words = [...last.words, ...next.words]
    if (last.language === next.language) addMissingMark(words, last.words.length, last.language)
    const hasEnded = sentenceMark(before.text, last.language) !== undefined
    if (hasEnded) capitalizeAfter(before, first, { ...next, words })
    return false
  }
  const at = last.words.length
  const combined = { ...last, words: [...last.words, ...next.words].map((word) => ({ ...word })) }
  const sentenceContinues = resolveBoundary(combined, at, { isInside: false })
  const fits = at + next.words.length <= MAX_WORDS && end.end - last.words[0]!.start <= MAX_SECONDS
  if (!sentenceContinues || !fits) {
    // Marks and case must also be right where a sentence continues in an utterance that stays
    // apart.
    for (const [i, word] of combined.words.entries()) {
      const original = i < at ? last.words[i]! : next.words[i - at]!
      original.text = word.text
    }
    return false
  }
  if (last.speakerConfidence !== undefined && next.speakerConfidence !== undefined) {
    const sum = last.speakerConfidence * at + next.speakerConfidence * next.words.length
    last.speakerConfidence = sum / combined.words.length
  }
  last.words = combined.words
  return true
}

/**
 * Decides whether a sentence ends before the word at `at`, and corrects the mark before the word
 * and the case of the word. Returns whether the sentence continues.
 */
function resolveBoundary(utterance: Utterance, at: number, place: { isInside: boolean }): boolean {
  const { words, language } = utterance
  const [previous, next] = [words[at - 1]!, words[at]!]
  const mark = sentenceMark(previous.text, language)
  if (mark === undefined) return resolveUnmarkedBoundary(utterance, at, place)
  if (language === 'en' && continuesAfterMark(words, at, mark)) {
    correctFinalMark(words, at, mark)
    previous.text = previous.text.slice(0, -1)
    next.text = lowerFunctionWord(next.text)
    return true
  }
  capitalizeAfter(previous, next, utterance)
  return false
}

/** Capitalizes the word after the end of a sentence, unless the sentence ends in an ellipsis. */
function capitalizeAfter(previous: Word, next: Word, { words, language }: Utterance): void {
  if (!startsLowerCase(next.text) || /(?:\.\.|…)$/.test(previous.text) || !hasCapitals(words))
    return
  next.text = capitalize(next.text, language)
}

/**
 * Capitalizes the first word of an utterance where the word before it, `before`, ends a sentence.
 */
export function capitalizeBeginning({ words, language }: Utterance, before: string): void {
  const [first] = words
  const mark = sentenceMark(before, language)
  if (!first || mark === undefined || mark === '…' || !startsLowerCase(first.text)) return
  first.text = capitalize(first.text, language)
}

/** Returns the mark with which a word ends its sentence, or undefined where none does. */
function sentenceMark(text: string, language: string): string | undefined {
  const mark = FINAL_MARK.exec(text)?.[0]
  if (mark === undefined) return undefined
  if (/(?:\.\.|…)$/.test(text)) return '…'
  const { core } = wordPartsOf(text)
  if (mark === '.' && (core.length < 2 || abbreviationOf(core, language))) return undefined
  return mark
}

/**
 * Like `resolveBoundary`, for a boundary without a mark: the sentence continues unless a capital
 * follows.
 */
function resolveUnmarkedBoundary(
  { words, language }: Utterance,
  at: number,
  { isInside }: { isInside: boolean },
): boolean {
  const [previous, next] = [words[at - 1]!, words[at]!]
  if (/[.!?…]["'”’)]*$/.test(previous.text)) return false
  const isAfterCut = isInside || /,$/.test(previous.text)
  if (language === 'en' && isAfterCut && hasWrongCapital(words, at)) {
    next.text = lowerFunctionWord(next.text)
  } else addMissingMark(words, at, language)
  return startsLowerCase(next.text) && hasCapitals(words)
}

function addMissingMark(words: readonly Word[], at: number, language: string): void {
  if (language !== 'en' || !lacksFinalMark(words, at)) return
  words[at - 1]!.text += markOf(words.slice(sentenceStart(words, at), at))
}

/** Returns whether a sentence ends before a word: only that explains its capital after a pause. */
function lacksFinalMark(words: readonly Word[], at: number): boolean {
  const [previous, next] = [words[at - 1]!, words[at]!]
  if (next.start - previous.end < SENTENCE_PAUSE_SECONDS) return false
  if (!canEndSentence(previous.text) || isFilledPause([next], 0)) return false
  const isFunctionWord = continuesClause(next.text, words[at + 1]?.text)
  if (!isFunctionWord || lowerFunctionWord(next.text) === next.text) return false
  return !introducesQuote(words.slice(0, at).map(({ text }) => text))
}

/** Returns whether an English sentence without a mark may end with a word. */
function canEndSentence(text: string): boolean {
  return /[\p{L}\p{N}]$/u.test(text) && !cannotEndSentence(text)
}

function markOf(sentence: readonly Word[]): '?' | '.' {
  return asksInEnglish(wordsToText(sentence)) ? '?' : '.'
}

/** Returns whether a word has a capital only because a new segment of audio begins there. */
function hasWrongCapital(words: readonly Word[], at: number): boolean {
  const before = words.slice(0, at).map(({ text }) => text)
  const [previous, next] = [before.at(-1)!, words[at]!]
  if (isFilledPause([next], 0)) return true
  if (!/,$/.test(previous) && !cannotEndSentence(previous)) return false
  return continuesClause(next.text, words[at + 1]?.text) && !introducesQuote(before)
}

function startsLowerCase(text: string): boolean {
  return /^["'“‘(]*\p{Ll}[\p{Ll}'’-]*\P{L}*$/u.test(text)
}

/** Returns whether any word begins with a capital: some recognizers write none. */
export function hasCapitals(words: readonly Pick<Word, 'text'>[]): boolean {
  return words.some(({ text }) => /^\P{L}*\p{Lu}/u.test(text))
}

/** Returns whether an English sentence continues after a mark, judged by the words around it. */
function continuesAfterMark(words: readonly Word[], at: number, mark: string): boolean {
  if (mark === '?') return cannotEndQuestion(words[at - 1]!.text)
  if (mark !== '.') return false
  const { before, clause } = textsAround(words, at)
  return clauseContinues(before, clause, { isLowerCase: startsLowerCase(words[at]!.text) })
}

/**
 * Corrects the last mark of a sentence that continues with the word at `at`, although it was cut
 * there with `mark`: the whole of it may be a question where its parts are none.
 */
function correctFinalMark(words: readonly Word[], at: number, mark: string): void {
  const { before, clause, last } = textsAround(words, at)
  const isQuestion = asksInEnglish(`${before} ${clause}`)
  if (mark === '?' && isQuestion) last.text = last.text.replace(/\.$/, '?')
  if (mark === '.' && !isQuestion) last.text = last.text.replace(/\?$/, '.')
}

/**
 * Returns the sentence that ends before the word at `at`, the clause from there to the next final
 * mark, both without their marks, and the last word of the clause.
 */
function textsAround(words: readonly Word[], at: number) {
  const before = wordsToText(words.slice(sentenceStart(words, at), at)).slice(0, -1)
  const marked = words.findIndex(({ text }, i) => i >= at && FINAL_MARK.test(text))
  const end = marked < 0 ? words.length - 1 : marked
  const clause = wordsToText(words.slice(at, end + 1)).replace(FINAL_MARK, '')
  return { before, clause, last: words[end]! }
}

function sentenceStart(words: readonly Word[], at: number): number {
  return words.findLastIndex(({ text }, i) => i < at - 1 && FINAL_MARK.test(text)) + 1
}

function wordsToText(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ')
}
