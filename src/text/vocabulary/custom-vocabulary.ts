import type { Transcript, Utterance, Word } from '../../transcript/transcript.ts'
import { GrowthBudget, growthWarnings, type SessionReplacer } from '../words/growth-budget.ts'
import {
  foldWord,
  mergeWords,
  type WordParts,
  withPunctuation,
  wordPartsOf,
} from '../words/word-parts.ts'
import { acceptanceFactor, type RecognizedWord } from './acceptance-thresholds.ts'
import { findClosestEntry } from './closest-entry.ts'
import { isCommonWord, isFunctionWord } from './common-words.ts'
import {
  type CustomVocabularyConfig,
  countTooLong,
  foldedLetters,
  indexVocabulary,
  type VocabularyIndex,
} from './entries.ts'
import { phonesOf, supportsPhones } from './phones.ts'

/** A longer pause between two words, in seconds, separates names. */
const MAX_PAUSE = 0.6

/** A recognized word with the properties that are compared with entries. */
type PreparedWord = RecognizedWord & {
  parts: WordParts
  letters: string
  phones: readonly number[]
}

/**
 * Words from the index `from` to `to` (exclusive) that `value` may replace; the lower the score,
 * the closer the match.
 */
type Candidate = { from: number; to: number; value: string; score: number }

/**
 * Replaces words that sound like an entry of the vocabulary by its value. The closest matches come
 * first; none crosses the end of an utterance, punctuation or a pause. Words that already have the
 * letters of the value, however they are divided, get its spelling. A new word spans the time of
 * the words it replaces and has their mean confidence; punctuation around them and a possessive 's
 * stay.
 */
export function applyVocabulary(
  transcript: Transcript,
  config: CustomVocabularyConfig,
): Transcript {
  return createVocabulary(config).apply(transcript)
}

/**
 * Returns the same replacement for the transcripts of a session, which arrive one by one. It
 * indexes the vocabulary once for each language with phones, and once for all other languages. All
 * transcripts share one growth budget.
 */
export function createVocabulary(config: CustomVocabularyConfig): SessionReplacer {
  const indexes = new Map<string, VocabularyIndex>()
  const growth = new GrowthBudget()
  const tooLong = countTooLong(config)
  function indexFor(language: string): VocabularyIndex {
    const key = supportsPhones(language) ? language : 'by letters'
    const index = indexes.get(key) ?? indexVocabulary(config, language)
    indexes.set(key, index)
    return index
  }
  return {
    apply(transcript) {
      const preparedWords = new Map<string, PreparedWord>()
      const utterances = transcript.utterances.map((utterance) => {
        const { language, words } = utterance
        const prepared = words.map((word) => prepareWord(word, { language, preparedWords }))
        const chosen = chooseBest(findReplacements(utterance, prepared, indexFor(language)))
        return { ...utterance, words: replaceCandidates(words, prepared, { chosen, growth }) }
      })
      return { ...transcript, utterances }
    },
    warnings: () => growthWarnings('custom_vocabulary', { tooLong, leftOut: growth.leftOut }),
  }
}

/** Returns the properties of a word. They are cached by text and language, because words repeat. */
function prepareWord(
  { text, confidence }: Word,
  { language, preparedWords }: { language: string; preparedWords: Map<string, PreparedWord> },
): PreparedWord {
  const key = `${language} ${text}`
  let prepared = preparedWords.get(key)
  if (!prepared) {
    const parts = wordPartsOf(text)
    const lower = foldWord(parts.core)
    prepared = {
      parts,
      letters: foldedLetters(parts.core),
      phones: canCompareByPhones(parts.core, language) ? phonesOf(parts.core, language) : [],
      hasDigit: /\p{N}/u.test(lower),
      isCommon: isCommonWord(lower),
      isFunctionWord: isFunctionWord(lower),
      confidence,
    }
    preparedWords.set(key, prepared)
  }
  return { ...prepared, confidence }
}

/** A longer text is not a word: it is compared with entries by letters only. */
const MAX_WORD_CHARS = 100

function canCompareByPhones(core: string, language: string): boolean {
  return core.length <= MAX_WORD_CHARS && supportsPhones(language)
}

function findReplacements(
  { words, language }: Utterance,
  prepared: PreparedWord[],
  index: VocabularyIndex,
): Candidate[] {
  const candidates: Candidate[] = []
  for (let from = 0; from < words.length; from++) {
    let letters = ''
    let phones: number[] = []
    for (let to = from + 1; to <= words.length && to - from <= index.maxWords; to++) {
      const last = prepared[to - 1]!
      if (last.letters === '' || (to - 1 > from && !isOnePhrase(words, prepared, to - 1))) break
      letters += last.letters
      phones = phones.concat(last.phones)
      const window = prepared.slice(from, to)
      const exact = index.byLetters.get(letters)
      if (exact !== undefined) {
        // "us" is not the US, nor "it" the department: letter case alone cannot distinguish them.
        const isPronoun = window.length === 1 && last.isFunctionWord
        if (!isPronoun) candidates.push({ from, to, value: exact, score: from - to })
      } else if (phones.length > 0) {
        const factor = language === 'en' ? acceptanceFactor(window) : 1
        const best = findClosestEntry(index, { phones, words: window.length, factor })
        if (best) candidates.push({ from, to, value: best.pattern.value, score: best.score })
      }
    }
  }
  return candidates
}

/**
 * Returns whether neither punctuation nor a pause separates the word at `i` from the one before.
 */
function isOnePhrase(
  words: readonly Word[],
  prepared: readonly PreparedWord[],
  i: number,
): boolean {
  const { after, possessive } = prepared[i - 1]!.parts
  const isJoined = after === '' && possessive === '' && prepared[i]!.parts.before === ''
  return isJoined && words[i]!.start - words[i - 1]!.end <= MAX_PAUSE
}

/**
 * Returns the best candidates that do not overlap, in the order of their words. Of candidates with
 * equal scores, the longest wins, then the earliest.
 */
function chooseBest(candidates: Candidate[]): Candidate[] {
  const replacedWords = new Set<number>()
  const chosen: Candidate[] = []
  candidates.sort((a, b) => a.score - b.score || b.to - b.from - (a.to - a.from) || a.from - b.from)
  for (const candidate of candidates) {
    const positions = Array.from(
      { length: candidate.to - candidate.from },
      (_, i) => candidate.from + i,
    )
    if (positions.some((position) => replacedWords.has(position))) continue
    for (const position of positions) replacedWords.add(position)
    chosen.push(candidate)
  }
  return chosen.sort((a, b) => a.from - b.from)
}

function replaceCandidates(
  words: readonly Word[],
  prepared: readonly PreparedWord[],
  { chosen, growth }: { chosen: readonly Candidate[]; growth: GrowthBudget },
): Word[] {
  const replaced: Word[] = []
  let at = 0
  growth.begin(words)
  for (const { from, to, value } of chosen) {
    const { before } = prepared[from]!.parts
    const { possessive, after } = prepared[to - 1]!.parts
    const recognizedWords = words.slice(from, to)
    const text = withPunctuation(value, { before, after: possessive + after })
    if (!growth.allows(recognizedWords, text)) continue
    replaced.push(...words.slice(at, from), mergeWords(recognizedWords, text))
    at = to
  }
  return [...replaced, ...words.slice(at)]
}
