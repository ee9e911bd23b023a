import type { Transcript, Word } from '../../transcript/transcript.ts'
import type { SpeakerUtterance } from '../speech-engine.ts'
import {
  attributeWords,
  cutTurns,
  numberSpeakers,
  splitChannels,
} from './assignment/attributed-words.ts'
import type { WordSpeakers } from './assignment/word-speakers.ts'
import type { SpeakerTurn } from './embedding/diarization-pipeline.ts'

/** The turns of one channel, by start. */
export type ChannelTurns = { channel: number; turns: readonly SpeakerTurn[] }

/**
 * The margin of a word that lies in one turn alone, in the scale of `AttributedWord`: that of a
 * clear speaker. A word that two turns share equally has 0; a word outside all turns, which goes to
 * the nearest, has less.
 */
const CLEAR_MARGIN = 0.3
const OUTSIDE_MARGIN = -0.1

/**
 * Assigns to each word the speaker whose turns overlap it most. Speakers are numbered from 0 by
 * first appearance over all channels. Utterances are cut again; no word is lost or changed.
 */
export function diarizeByTurns(
  transcript: Transcript,
  channels: readonly ChannelTurns[],
): SpeakerUtterance[] {
  const split = splitChannels(transcript)
  for (const { channel, words } of split) {
    const turns = channels.find((other) => other.channel === channel)?.turns ?? []
    const assigned = assignByTurns(
      words.map(({ word }) => word),
      turns,
    )
    attributeWords(words, assigned)
  }
  return numberSpeakers(split.flatMap(cutTurns))
}

/** Assigns each word of a channel to a speaker; both ascend by start. */
export function assignByTurns(words: readonly Word[], turns: readonly SpeakerTurn[]): WordSpeakers {
  const longest = turns.reduce((max, { start, end }) => Math.max(max, end - start), 0)
  let first = 0
  const turnOfWord = words.map((word) => {
    while (first < turns.length && turns[first]!.start + longest < word.start) first++
    const shares = new Map<number, number>()
    for (let i = first; i < turns.length && turns[i]!.start < word.end; i++) {
      const { start, end, speaker } = turns[i]!
      const shared = Math.min(end, word.end) - Math.max(start, word.start)
      if (shared > 0) shares.set(speaker, (shares.get(speaker) ?? 0) + shared)
    }
    const [best, second] = [...shares].sort((a, b) => b[1] - a[1] || a[0] - b[0])
    if (!best) return { speaker: nearestTurn(word, turns), margin: OUTSIDE_MARGIN }
    const lead = (best[1] - (second?.[1] ?? 0)) / best[1]
    return { speaker: best[0], margin: CLEAR_MARGIN * lead }
  })
  return {
    speakers: turnOfWord.map(({ speaker }) => speaker),
    margins: turnOfWord.map(({ margin }) => margin),
  }
}

/** Returns the speaker of the turn nearest in time; the first speaker where there are no turns. */
function nearestTurn(word: Word, turns: readonly SpeakerTurn[]): number {
  let [nearestSpeaker, distance] = [0, Number.POSITIVE_INFINITY]
  for (const { start, end, speaker } of turns) {
    const gap = Math.max(0, start - word.end, word.start - end)
    if (gap < distance) [nearestSpeaker, distance] = [speaker, gap]
  }
  return nearestSpeaker
}
