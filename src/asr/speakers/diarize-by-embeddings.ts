import type { Transcript } from '../../transcript/transcript.ts'
import type { SpeakerCounts, SpeakerUtterance } from '../speech-engine.ts'
import {
  attributeWords,
  cutTurns,
  numberSpeakers,
  splitChannels,
} from './assignment/attributed-words.ts'
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

/**
 * Assigns a speaker to each word: utterances are cut again so that each has one speaker, and
 * speakers are numbered from 0 by first appearance over all channels. Sides of a call have separate
 * speakers, one each unless a count asks for more; microphones in one room share their speakers.
 * Counts are met as far as there are speakers. No word is lost or changed; equal input gives equal
 * output.
 */
export function diarizeByEmbeddings(
  transcript: Transcript,
  { embeddings, counts }: { embeddings: readonly ChannelWindows[]; counts: SpeakerCounts },
): SpeakerUtterance[] {
  const channels = splitChannels(transcript)
  const windows = channels.map(({ channel }) => windowsOf(embeddings, channel))
  const wordsOfChannels = channels.map(({ words }) => words.map(({ word }) => word))
  const oneRoom = channels.length > 1 && isSameRoom(wordsOfChannels)
  const centroids = oneRoom ? diarizeOneRoom(windows, counts) : diarizeApart(windows, counts)
  for (const [i, { words }] of channels.entries()) {
    const observed = { windows: windows[i]!, centroids: centroids[i]! }
    attributeWords(words, assignWords(wordsOfChannels[i]!, observed))
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

function windowsOf(embeddings: readonly ChannelWindows[], channel: number): WindowEmbedding[] {
  const windows = embeddings.find((embedded) => embedded.channel === channel)?.windows ?? []
  return windows.toSorted((a, b) => a.start - b.start || a.end - b.end)
}
