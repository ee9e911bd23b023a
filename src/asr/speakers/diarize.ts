import { splitUtterances } from '../../transcript/split-utterances.ts'
import type { RecognitionInfo, Transcript, Utterance, Word } from '../../transcript/transcript.ts'
import type { SpeakerCounts, SpeakerUtterance } from '../speech-engine.ts'
import { isSameRoom } from './assignment/same-room.ts'
import { assignWords } from './assignment/word-speakers.ts'
import { clusterSpeakers } from './clustering/cluster-speakers.ts'
import { chooseSpeakerCounts } from './clustering/speaker-counts.ts'
import type { WindowEmbedding } from './embedding/embedders/embedder.ts'

/**
 * The embeddings of the windows of one channel; `speechRegions` and `diarizationGrid` define the
 * windows.
 */
export type ChannelWindows = { channel: number; windows: readonly WindowEmbedding[] }

/** A word with its speaker; `speaker` is numbered within the channel. */
type AttributedWord = { word: Word; recognized: RecognitionInfo; speaker: number; margin: number }
/** The words of one channel, in order of time. */
export type ChannelWords = { channel: number; words: AttributedWord[] }

/**
 * Assigns a speaker to each word: utterances are cut again so that each has one speaker, and
 * speakers are numbered from 0 by first appearance over all channels. Sides of a call have separate
 * speakers, one each unless a count asks for more; microphones in one room share their speakers.
 * Counts are met as far as there are speakers. No word is lost or changed; equal input gives equal
 * output.
 */
export function diarize(
  transcript: Transcript,
  { embeddings, counts }: { embeddings: readonly ChannelWindows[]; counts: SpeakerCounts },
): SpeakerUtterance[] {
  const channels = splitChannels(transcript)
  const windows = channels.map(({ channel }) => windowsOf(embeddings, channel))
  const texts = channels.map(({ words }) => words.map(({ word }) => word))
  const oneRoom = channels.length > 1 && isSameRoom(texts)
  const centroids = oneRoom ? diarizeOneRoom(windows, counts) : diarizeApart(windows, counts)
  for (const [i, { words }] of channels.entries()) {
    const assigned = assignWords(texts[i]!, { windows: windows[i]!, centroids: centroids[i]! })
    for (const [at, word] of words.entries()) {
      word.speaker = assigned.speakers[at]!
      word.margin = assigned.margins[at]!
    }
  }
  return numberSpeakers(channels.flatMap(cutTurns), { acrossChannels: oneRoom })
}

type ChannelCentroids = readonly Float32Array[][]

/** Finds the speakers of each channel, which are different on each. */
function diarizeApart(
  channels: readonly (readonly WindowEmbedding[])[],
  counts: SpeakerCounts,
): ChannelCentroids {
  const speakersOfChannels = channels.map(clusterSpeakers)
  const isCall = channels.length > 1
  const start = speakersOfChannels.map(({ count }) => (isCall ? Math.min(1, count) : count))
  const chosen = chooseSpeakerCounts(speakersOfChannels, { start, counts })
  return speakersOfChannels.map(({ centroids }, i) => centroids(chosen[i]!))
}

/** Finds the speakers of a room, the same on each channel: in all channels together. */
function diarizeOneRoom(
  channels: readonly (readonly WindowEmbedding[])[],
  counts: SpeakerCounts,
): ChannelCentroids {
  const jointSpeakers = clusterSpeakers(concatenateInTime(channels))
  const [count] = chooseSpeakerCounts([jointSpeakers], { start: [jointSpeakers.count], counts })
  return channels.map(() => jointSpeakers.centroids(count!))
}

/**
 * Returns the windows of all channels as if they were played one after the other, so that windows
 * of different channels are never neighbors.
 */
function concatenateInTime(channels: readonly (readonly WindowEmbedding[])[]): WindowEmbedding[] {
  let offset = 0
  return channels.flatMap((windows) => {
    const shifted = windows.map((window) => {
      return { ...window, start: window.start + offset, end: window.end + offset }
    })
    offset = shifted.reduce((last, { end }) => Math.max(last, end), offset)
    return shifted
  })
}

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

function windowsOf(embeddings: readonly ChannelWindows[], channel: number): WindowEmbedding[] {
  const windows = embeddings.find((embedded) => embedded.channel === channel)?.windows ?? []
  return windows.toSorted((a, b) => a.start - b.start || a.end - b.end)
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
