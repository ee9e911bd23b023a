import type { RecognizedSegment } from '../asr/speech-engine.ts'
import type { Transcript, Word } from '../transcript/transcript.ts'
import { cutUtterances } from '../transcript/utterances.ts'

export type HeardBatch = { channel: number; segments: readonly RecognizedSegment[] }

type Run = { channel: number; language: string; words: Word[] }

/**
 * Joins what was heard into utterances: the words of a channel run on across segments as long as the
 * language stays the same, for a segment may end where a sentence does not.
 */
export function assembleTranscript(batches: readonly HeardBatch[]): Transcript {
  const runs: Run[] = []
  for (const { channel, segments } of batches) {
    for (const { words, language } of segments) {
      if (words.length === 0) continue
      const last = runs.at(-1)
      if (last?.channel === channel && last.language === language) last.words.push(...words)
      else runs.push({ channel, language, words: [...words] })
    }
  }
  const utterances = runs.flatMap((run) => cutUtterances(run.words, run))
  return { utterances: utterances.sort((a, b) => startOf(a) - startOf(b) || a.channel - b.channel) }
}

function startOf({ words }: { words: readonly Word[] }): number {
  return words[0]!.start
}
