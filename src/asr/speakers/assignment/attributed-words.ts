import { splitUtterances } from '../../../transcript/split-utterances.ts'
import type {
  RecognitionInfo,
  Transcript,
  Utterance,
  Word,
} from '../../../transcript/transcript.ts'
import type { SpeakerUtterance } from '../../speech-engine.ts'
import type { WordSpeakers } from './word-speakers.ts'

/** A word with its speaker; `speaker` is numbered within the channel. */
type AttributedWord = { word: Word; recognized: RecognitionInfo; speaker: number; margin: number }
/** The words of one channel, in order of time. */
export type ChannelWords = { channel: number; words: AttributedWord[] }

/** Returns the words of each channel, in order of time. */
export function splitChannels({ utterances }: Transcript): ChannelWords[] {
  const channels = new Map<number, ChannelWords>()
  for (const { channel, words, speaker: _, speakerConfidence: __, ...recognized } of utterances) {
    const channelWords = channels.get(channel) ?? { channel, words: [] }
    channels.set(channel, channelWords)
    channelWords.words.push(...words.map((word) => ({ word, recognized, speaker: 0, margin: 0 })))
  }
  return [...channels.values()].sort((a, b) => a.channel - b.channel)
}

/** Sets the speaker of each word, and its margin. */
export function attributeWords(
  words: readonly AttributedWord[],
  { speakers, margins }: WordSpeakers,
): void {
  for (const [i, word] of words.entries()) {
    word.speaker = speakers[i]!
    word.margin = margins[i]!
  }
}

/**
 * An utterance with its speaker, numbered within the channel, and the confidence in the speaker.
 */
export type UtteranceSpeaker = { utterance: Utterance; speaker: number; confidence: number }

/**
 * Cuts the utterances of one channel: runs of words of one speaker, language and model, cut at
 * pauses.
 */
export function cutTurns({ channel, words }: ChannelWords): UtteranceSpeaker[] {
  const runs: AttributedWord[][] = []
  for (const word of words) {
    const last = runs.at(-1)?.at(-1)
    if (!last || last.speaker !== word.speaker || !isAlike(last, word)) runs.push([])
    runs.at(-1)!.push(word)
  }
  return runs.flatMap((run) => {
    const { recognized, speaker } = run[0]!
    const words = run.map(({ word }) => word)
    const margins = new Map(run.map(({ word, margin }) => [word, margin]))
    return splitUtterances(words, { channel, ...recognized }).map((utterance) => {
      return { utterance, speaker, confidence: confidenceIn(utterance.words, margins) }
    })
  })
}

function isAlike({ recognized: a }: AttributedWord, { recognized: b }: AttributedWord): boolean {
  return a.language === b.language && a.model === b.model
}

/**
 * The margin at which the confidence is one half, and the scale of the logistic curve: fitted to
 * how often utterances of joined read speech had the right speaker (logistic regression). When two
 * speak at once, both are about equally likely, hence a low confidence.
 */
const EVEN_MARGIN = 0.05
const MARGIN_SCALE = 0.1
/** A word counts for at least this long, in seconds. */
const MIN_WEIGHT_SECONDS = 0.1

/** Returns the confidence for the mean margin of the words, longer words counting more. */
function confidenceIn(words: readonly Word[], margins: ReadonlyMap<Word, number>): number {
  let [sum, total] = [0, 0]
  for (const word of words) {
    const weight = Math.max(MIN_WEIGHT_SECONDS, word.end - word.start)
    sum += weight * margins.get(word)!
    total += weight
  }
  return 1 / (1 + Math.exp((EVEN_MARGIN - sum / total) / MARGIN_SCALE))
}

/**
 * Numbers the speakers by first appearance; the same `speaker` on another channel is another
 * speaker, unless `acrossChannels` is set.
 */
export function numberSpeakers(
  turns: readonly UtteranceSpeaker[],
  { acrossChannels = false }: { acrossChannels?: boolean } = {},
): SpeakerUtterance[] {
  const sorted = turns.toSorted(({ utterance: a }, { utterance: b }) => {
    return a.words[0]!.start - b.words[0]!.start || a.channel - b.channel
  })
  const numbers = new Map<string, number>()
  return sorted.map(({ utterance, speaker, confidence }) => {
    const key = acrossChannels ? `${speaker}` : `${utterance.channel}:${speaker}`
    if (!numbers.has(key)) numbers.set(key, numbers.size)
    return { ...utterance, speaker: numbers.get(key)!, speakerConfidence: confidence }
  })
}
