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
  type Index,
  indexVocabulary,
} from './entries.ts'
import { hasSounds, phonesOf } from './phones.ts'

/** Two words with a longer pause between them, in seconds, are not one name. */
const MAX_PAUSE = 0.6

/** One word with all properties that are compared. */
type PreparedWord = RecognizedWord & {
  parts: WordParts
  letters: string
  phones: readonly number[]
}

/**
 * Words from `from` to `to` (exclusive) that may be `value`; the lower the score, the closer the
 * match.
 */
type Candidate = { from: number; to: number; value: string; score: number }

/**
 * Replaces words that sound like an entry of the vocabulary by its value: the closest first, never
 * across an utterance, punctuation or a pause. Words that are already the value, or its letters in
 * parts, get its spelling. The new words span the old ones with their mean confidence; punctuation
 * around them and a possessive 's stay.
 */
export function applyVocabulary(
  transcript: Transcript,
  config: CustomVocabularyConfig,
): Transcript {
  return createVocabulary(config).apply(transcript)
}

/**
 * Prepares the same for transcripts that come one by one: once for each language that has phones
 * and once for all others. The growth of the transcripts is bounded together.
 */
export function createVocabulary(config: CustomVocabularyConfig): SessionReplacer {
  const indexes = new Map<string, Index>()
  const growth = new GrowthBudget()
  const tooLong = countTooLong(config)
  function indexFor(language: string): Index {
    const name = hasSounds(language) ? language : 'by letters'
    const index = indexes.get(name) ?? indexVocabulary(config, language)
    indexes.set(name, index)
    return index
  }
  return {
    apply(transcript) {
      const readings = new Map<string, PreparedWord>()
      const utterances = transcript.utterances.map((utterance) => {
        const { language, words } = utterance
        const recognized = words.map((word) => prepareWord(word, { language, readings }))
        const chosen = chooseBest(findReplacements(utterance, recognized, indexFor(language)))
        return { ...utterance, words: replaceCandidates(words, recognized, { chosen, growth }) }
      })
      return { ...transcript, utterances }
    },
    warnings: () => growthWarnings('custom_vocabulary', { tooLong, leftOut: growth.leftOut }),
  }
}

/** Returns a word with its phones, which are cached because words repeat. */
function prepareWord(
  { text, confidence }: Word,
  { language, readings }: { language: string; readings: Map<string, PreparedWord> },
): PreparedWord {
  const name = `${language} ${text}`
  let recognized = readings.get(name)
  if (!recognized) {
    const parts = wordPartsOf(text)
    const lower = foldWord(parts.core)
    recognized = {
      parts,
      letters: foldedLetters(parts.core),
      phones: hasPhones(parts.core, language) ? phonesOf(parts.core, language) : [],
      hasDigit: /\p{N}/u.test(lower),
      isCommon: isCommonWord(lower),
      isFunctionWord: isFunctionWord(lower),
      confidence,
    }
    readings.set(name, recognized)
  }
  return { ...recognized, confidence }
}

/** Anything longer is no word, and can match an entry only to the letter. */
const MAX_WORD_CHARS = 100

function hasPhones(core: string, language: string): boolean {
  return core.length <= MAX_WORD_CHARS && hasSounds(language)
}

function findReplacements(
  { words, language }: Utterance,
  recognized: PreparedWord[],
  index: Index,
): Candidate[] {
  const foundCandidates: Candidate[] = []
  for (let from = 0; from < words.length; from++) {
    let letters = ''
    let phones: number[] = []
    for (let to = from + 1; to <= words.length && to - from <= index.maxWords; to++) {
      const last = recognized[to - 1]!
      if (last.letters === '' || (to - 1 > from && !isOnePhrase(words, recognized, to - 1))) break
      letters += last.letters
      phones = phones.concat(last.phones)
      const window = recognized.slice(from, to)
      const exact = index.byLetters.get(letters)
      if (exact !== undefined) {
        // "us" is not the US, nor "it" the department: letter case alone cannot distinguish them.
        const isPronoun = window.length === 1 && last.isFunctionWord
        if (!isPronoun) foundCandidates.push({ from, to, value: exact, score: from - to })
      } else if (phones.length > 0) {
        const factor = language === 'en' ? acceptanceFactor(window) : 1
        const best = findClosestEntry(index, { phones, words: window.length, factor })
        if (best) foundCandidates.push({ from, to, value: best.pattern.value, score: best.score })
      }
    }
  }
  return foundCandidates
}

/** Returns whether the word at `i` continues the one before it, without punctuation or a pause. */
function isOnePhrase(
  words: readonly Word[],
  recognized: readonly PreparedWord[],
  i: number,
): boolean {
  const { after, possessive } = recognized[i - 1]!.parts
  const isJoined = after === '' && possessive === '' && recognized[i]!.parts.before === ''
  return isJoined && words[i]!.start - words[i - 1]!.end <= MAX_PAUSE
}

/**
 * Returns the best candidates that do not overlap, by place; of equal ones the longer, then the
 * earlier.
 */
function chooseBest(foundCandidates: Candidate[]): Candidate[] {
  const replacedWords = new Set<number>()
  const chosen: Candidate[] = []
  foundCandidates.sort(
    (a, b) => a.score - b.score || b.to - b.from - (a.to - a.from) || a.from - b.from,
  )
  for (const candidate of foundCandidates) {
    const places = Array.from(
      { length: candidate.to - candidate.from },
      (_, i) => candidate.from + i,
    )
    if (places.some((place) => replacedWords.has(place))) continue
    for (const place of places) replacedWords.add(place)
    chosen.push(candidate)
  }
  return chosen.sort((a, b) => a.from - b.from)
}

function replaceCandidates(
  words: readonly Word[],
  recognized: readonly PreparedWord[],
  { chosen, growth }: { chosen: readonly Candidate[]; growth: GrowthBudget },
): Word[] {
  const replaced: Word[] = []
  let at = 0
  growth.begin(words)
  for (const { from, to, value } of chosen) {
    const { before } = recognized[from]!.parts
    const { possessive, after } = recognized[to - 1]!.parts
    const recognizedWords = words.slice(from, to)
    const text = withPunctuation(value, { before, after: possessive + after })
    if (!growth.allows(recognizedWords, text)) continue
    replaced.push(...words.slice(at, from), mergeWords(recognizedWords, text))
    at = to
  }
  return [...replaced, ...words.slice(at)]
}
