import type { RecognizedSegment } from '../asr/speech-engine.ts'
import type { Transcript, Word } from '../transcript/transcript.ts'
import { cutUtterances } from '../transcript/utterances.ts'

/** The recognized segments of one batch of a channel. */
export type RecognizedBatch = { channel: number; segments: readonly RecognizedSegment[] }

type Run = { channel: number; language: string; words: Word[] }

/**
 * Joins recognized segments into utterances. The words of a channel run on across segments while
 * the language stays the same, because a segment may end in the middle of a sentence. A batch holds
 * segments of similar length, in no particular time order.
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

/** Returns all segments, channel by channel. */
function inOrderOfTime(batches: readonly RecognizedBatch[]) {
  const segments = batches.flatMap(({ channel, segments }) => {
    return segments.map((recognized) => ({ channel, ...recognized }))
  })
  return segments.sort((a, b) => a.channel - b.channel || a.segment.start - b.segment.start)
}

function startOf({ words }: { words: readonly Word[] }): number {
  return words[0]!.start
}
