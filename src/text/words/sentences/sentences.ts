import { separatorOf } from '../../../transcript/separators.ts'
import type { Transcript, Utterance, Word } from '../../../transcript/transcript.ts'
import { sentenceEnds } from './sentence-ends.ts'

/** A silence longer than this, in seconds, ends a sentence whatever its punctuation. */
const PAUSE = 1.5
/** A sentence with more words is cut: such a long one is speech without punctuation. */
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
  /** Indexes of the utterances in the transcript that have words of it, ascending. */
  utterances: number[]
  /**
   * Whether punctuation or a change of speaker ended the sentence before it, not only a pause or
   * the length limit.
   */
  opens: boolean
}

type PlacedWord = { word: Word; utterance: number }
type SpeakerRun = Pick<Utterance, 'channel' | 'language' | 'speaker'> & { placed: PlacedWord[] }

/**
 * Returns the sentences of a transcript by start, then channel: every word is in exactly one. A
 * sentence may continue across utterances of a channel, even while others speak on other channels.
 * It ends where speaker or language changes, after a pause of 1.5 s and within 40 words.
 */
export function splitSentences(transcript: Transcript): Sentence[] {
  return runsOf(transcript)
    .flatMap(cutRun)
    .sort((a, b) => a.start - b.start || a.channel - b.channel)
}

/**
 * Returns the runs of a transcript: the words of one speaker in one language on one channel, until
 * another speaker follows there.
 */
function runsOf({ utterances }: Transcript): SpeakerRun[] {
  const runs: SpeakerRun[] = []
  const open = new Map<number, SpeakerRun>()
  for (const [utterance, { words, ...source }] of utterances.entries()) {
    if (words.length === 0) continue
    let run = open.get(source.channel)
    if (!run || run.language !== source.language || run.speaker !== source.speaker) {
      run = { ...source, placed: [] }
      open.set(source.channel, run)
      runs.push(run)
    }
    for (const word of words) run.placed.push({ word, utterance })
  }
  return runs
}

function cutRun(run: SpeakerRun): Sentence[] {
  const sentences: Sentence[] = []
  let opens = true
  for (const breath of cutAtPauses(run.placed)) {
    const ends = sentenceEnds(
      breath.map(({ word }) => word.text),
      run.language,
    )
    let from = 0
    for (const [i, end] of ends.entries()) {
      if (!end) continue
      for (const part of splitLong(breath.slice(from, i + 1))) {
        sentences.push(toSentence(part, run, opens))
        opens = false
      }
      from = i + 1
      opens = from < breath.length || endsInMark(breath.at(-1)!.word)
    }
  }
  return sentences
}

function cutAtPauses(placed: readonly PlacedWord[]): PlacedWord[][] {
  const breaths: PlacedWord[][] = []
  let previous: Word | undefined
  for (const placedWord of placed) {
    if (!previous || placedWord.word.start - previous.end > PAUSE) breaths.push([])
    breaths.at(-1)!.push(placedWord)
    previous = placedWord.word
  }
  return breaths
}

function endsInMark({ text }: Word): boolean {
  return /[.!?…。！？।؟։።]["'”’»」』)\]]*$/u.test(text)
}

/** Halves a sentence until each part has at most 40 words. */
function splitLong(placed: PlacedWord[]): PlacedWord[][] {
  if (placed.length <= MAX_WORDS) return [placed]
  const cut = bestSentenceCut(placed.map(({ word }) => word))
  return [...splitLong(placed.slice(0, cut)), ...splitLong(placed.slice(cut))]
}

const CONJUNCTION = /^(?:and|but|or|so|because|then|while|which|when|where|if|although|however)$/i

/**
 * Returns the index of the word that opens the second part: after a comma, before a conjunction, in
 * a long pause, near the middle.
 */
function bestSentenceCut(words: readonly Word[]): number {
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

function toSentence(placed: readonly PlacedWord[], source: SpeakerRun, opens: boolean): Sentence {
  const { channel, language, speaker } = source
  const words = placed.map(({ word }) => word)
  return {
    text: words.map(({ text }) => text).join(separatorOf(language)),
    start: words[0]!.start,
    end: words.at(-1)!.end,
    words,
    confidence: words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length,
    language,
    channel,
    ...(speaker === undefined ? {} : { speaker }),
    utterances: [...new Set(placed.map(({ utterance }) => utterance))],
    opens,
  }
}
