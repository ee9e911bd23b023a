import { separatorOf } from '../../../transcript/separators.ts'
import type { Transcript, Utterance, Word } from '../../../transcript/transcript.ts'
import { sentenceEnds } from './sentence-ends.ts'

/** A longer pause, in seconds, ends a sentence whatever its punctuation. */
const MAX_PAUSE = 1.5
/** A sentence of more words is split: one that long is speech without punctuation. */
const MAX_WORDS = 40

/** One sentence of one speaker. Times are seconds; `confidence` is the mean of its words. */
export type Sentence = {
  text: string
  start: number
  end: number
  words: Word[]
  confidence: number
  language: string
  channel: number
  speaker?: number
  /** The indexes of the utterances of the transcript that contain its words, ascending. */
  utterances: number[]
  /**
   * Whether punctuation or a change of speaker or language precedes it, and not only a pause or the
   * limit of length.
   */
  startsSentence: boolean
}

type PlacedWord = { word: Word; utterance: number }
type SpeakerRun = Pick<Utterance, 'channel' | 'language' | 'speaker'> & {
  placedWords: PlacedWord[]
}

/**
 * Returns the sentences of a transcript, sorted by start, then channel. Every word is in exactly
 * one. A sentence may continue across utterances of a channel, even while others speak on other
 * channels. It ends where the speaker or the language changes, at a pause of more than 1.5 s and
 * after at most 40 words.
 */
export function splitSentences(transcript: Transcript): Sentence[] {
  return speakerRuns(transcript)
    .flatMap(splitRun)
    .sort((a, b) => a.start - b.start || a.channel - b.channel)
}

/**
 * Returns the runs of a transcript: the words of one speaker in one language on one channel, until
 * another speaker follows there.
 */
function speakerRuns({ utterances }: Transcript): SpeakerRun[] {
  const runs: SpeakerRun[] = []
  const currentRuns = new Map<number, SpeakerRun>()
  for (const [utterance, { words, ...source }] of utterances.entries()) {
    if (words.length === 0) continue
    let run = currentRuns.get(source.channel)
    if (!run || run.language !== source.language || run.speaker !== source.speaker) {
      run = { ...source, placedWords: [] }
      currentRuns.set(source.channel, run)
      runs.push(run)
    }
    for (const word of words) run.placedWords.push({ word, utterance })
  }
  return runs
}

function splitRun(run: SpeakerRun): Sentence[] {
  const sentences: Sentence[] = []
  let startsSentence = true
  for (const phrase of splitAtPauses(run.placedWords)) {
    const ends = sentenceEnds(
      phrase.map(({ word }) => word.text),
      run.language,
    )
    let from = 0
    for (const [i, end] of ends.entries()) {
      if (!end) continue
      for (const part of splitLong(phrase.slice(from, i + 1))) {
        sentences.push(toSentence(part, run, startsSentence))
        startsSentence = false
      }
      from = i + 1
      startsSentence = from < phrase.length || endsInMark(phrase.at(-1)!.word)
    }
  }
  return sentences
}

function splitAtPauses(placedWords: readonly PlacedWord[]): PlacedWord[][] {
  const phrases: PlacedWord[][] = []
  let previous: Word | undefined
  for (const placedWord of placedWords) {
    if (!previous || placedWord.word.start - previous.end > MAX_PAUSE) phrases.push([])
    phrases.at(-1)!.push(placedWord)
    previous = placedWord.word
  }
  return phrases
}

function endsInMark({ text }: Word): boolean {
  return /[.!?…。！？।؟։።]["'”’»」』)\]]*$/u.test(text)
}

/** Splits a sentence in two until each part has at most 40 words. */
function splitLong(placedWords: PlacedWord[]): PlacedWord[][] {
  if (placedWords.length <= MAX_WORDS) return [placedWords]
  const splitIndex = bestSplitIndex(placedWords.map(({ word }) => word))
  return [
    ...splitLong(placedWords.slice(0, splitIndex)),
    ...splitLong(placedWords.slice(splitIndex)),
  ]
}

const CONJUNCTION = /^(?:and|but|or|so|because|then|while|which|when|where|if|although|however)$/i

/**
 * Returns the index of the best word to begin the second part: after a comma, with a conjunction,
 * after a long pause, near the middle.
 */
function bestSplitIndex(words: readonly Word[]): number {
  let best = 1
  let bestScore = Number.NEGATIVE_INFINITY
  for (let i = 1; i < words.length; i++) {
    const [before, next] = [words[i - 1]!, words[i]!]
    const mark = /[,;:、，]$/.test(before.text) ? 0.4 : 0
    const conjunction = CONJUNCTION.test(next.text) ? 0.3 : 0
    const pause = next.start - before.end
    const offCenter = Math.abs((2 * i) / words.length - 1)
    const score = mark + conjunction + pause - offCenter
    if (score > bestScore) [best, bestScore] = [i, score]
  }
  return best
}

function toSentence(
  placedWords: readonly PlacedWord[],
  source: SpeakerRun,
  startsSentence: boolean,
): Sentence {
  const { channel, language, speaker } = source
  const words = placedWords.map(({ word }) => word)
  return {
    text: words.map(({ text }) => text).join(separatorOf(language)),
    start: words[0]!.start,
    end: words.at(-1)!.end,
    words,
    confidence: words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length,
    language,
    channel,
    ...(speaker === undefined ? {} : { speaker }),
    utterances: [...new Set(placedWords.map(({ utterance }) => utterance))],
    startsSentence,
  }
}
