import type { RecognizedSegment } from '../asr/speech-engine.ts'
import type { Transcript, Word } from '../transcript/transcript.ts'
import { cutUtterances } from '../transcript/utterances.ts'

/** What was heard in one batch of a channel. */
export type RecognizedBatch = { channel: number; segments: readonly RecognizedSegment[] }

type Run = { channel: number; language: string; words: Word[] }

/**
 * Joins what was heard into utterances: the words of a channel run on across segments as long as the
 * language stays the same, for a segment may end where a sentence does not. Batches hold segments of
 * like length, in no order of time.
 */
export function assembleTranscript(batches: readonly RecognizedBatch[]): Transcript {
  const runs: Run[] = []
  for (const { channel, words, language } of inOrderOfTime(batches)) {
    if (words.length === 0) continue
    const last = runs.at(-1)
    if (last?.channel === channel && last.language === language) last.words.push(...words)
    else runs.push({ channel, language, words: [...words] })
  }
  const utterances = runs.flatMap((run) => cutUtterances(run.words, run))
  return { utterances: utterances.sort((a, b) => startOf(a) - startOf(b) || a.channel - b.channel) }
}

/** All segments, channel by channel. */
function inOrderOfTime(batches: readonly RecognizedBatch[]) {
  const segments = batches.flatMap(({ channel, segments }) => {
    return segments.map((heard) => ({ channel, ...heard }))
  })
  return segments.sort((a, b) => a.channel - b.channel || a.segment.start - b.segment.start)
}

function startOf({ words }: { words: readonly Word[] }): number {
  return words[0]!.start
}
