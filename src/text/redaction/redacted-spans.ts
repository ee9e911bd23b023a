import type { Word } from '../../transcript/transcript.ts'
import { type MaskedText, maskRunsOf, UNMASKED } from './masks/masked-text.ts'

/** Words of one utterance that an entity hides, fully or in part. */
export type WordSpan = { channel: number; utterance: number; words: Word[] }

/** A span of audio to silence: seconds on one channel. */
export type RedactedSpan = { channel: number; start: number; end: number }

/**
 * Returns the positions of each entity by its number in the masked text, utterance by utterance.
 */
export function entityWordSpans(masked: MaskedText): Map<number, WordSpan[]> {
  const all = new Map<number, WordSpan[]>()
  for (const [utterance, { channel, words }] of masked.utterances.entries()) {
    for (const [word, maskedWord] of words.entries()) {
      const runs = maskRunsOf(masked, { utterance, word, seesMarkers: false })
      for (const mask of new Set(runs.map(({ mask }) => mask))) {
        if (mask === UNMASKED) continue
        const places = all.get(mask) ?? []
        all.set(mask, places)
        const place = places.at(-1)
        if (place?.utterance === utterance) place.words.push(maskedWord)
        else places.push({ channel, utterance, words: [maskedWord] })
      }
    }
  }
  return all
}

/**
 * Returns the times at which an entity is spoken, in seconds: one span for each utterance that has
 * a part of it.
 */
export function redactedSpansOf(places: readonly WordSpan[]): RedactedSpan[] {
  return places.map(({ channel, words }) => {
    const end = words.reduce((last, word) => Math.max(last, word.end), 0)
    return { channel, start: words[0]!.start, end }
  })
}

/** Returns the spans by channel and time, without overlaps. */
export function mergeOverlapping(spans: readonly RedactedSpan[]): RedactedSpan[] {
  const joined: RedactedSpan[] = []
  for (const span of spans.toSorted((a, b) => a.channel - b.channel || a.start - b.start)) {
    const last = joined.at(-1)
    if (last?.channel === span.channel && span.start <= last.end) {
      last.end = Math.max(last.end, span.end)
    } else {
      joined.push({ ...span })
    }
  }
  return joined
}
