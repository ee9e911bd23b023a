import type { RecognizedSegment } from '../../asr/speech-engine.ts'
import { splitUtterances } from '../../transcript/split-utterances.ts'
import type { RecognitionInfo, Transcript, Word } from '../../transcript/transcript.ts'

/** The recognized segments of one batch of a channel. */
export type RecognizedBatch = { channel: number; segments: readonly RecognizedSegment[] }

type WordRun = { source: RecognitionInfo & { channel: number }; words: Word[] }

/**
 * Joins recognized segments into utterances, sorted by start. The words of a channel are joined
 * across segments while the language stays the same, because a segment may end in the middle of a
 * sentence. The segments of a batch may come in any order. With `namesModels`, each utterance names
 * its model.
 */
export function assembleTranscript(
  batches: readonly RecognizedBatch[],
  { namesModels = false }: { namesModels?: boolean } = {},
): Transcript {
  const runs: WordRun[] = []
  for (const { channel, words, language, model, segment } of segmentsInOrder(batches)) {
    if (words.length === 0) continue
    const { languageConfidence } = segment
    const modelFields = namesModels && {
      model,
      ...(languageConfidence !== undefined && { languageConfidence }),
    }
    const source = { channel, language, ...modelFields }
    const last = runs.at(-1)
    if (last && hasSameSource(last.source, source)) last.words.push(...words)
    else runs.push({ source, words: [...words] })
  }
  const utterances = runs.flatMap((run) => splitUtterances(run.words, run.source))
  return { utterances: utterances.sort((a, b) => startOf(a) - startOf(b) || a.channel - b.channel) }
}

/** Ignores the language confidence: a run has that of its first segment. */
function hasSameSource(a: WordRun['source'], b: WordRun['source']): boolean {
  return a.channel === b.channel && a.language === b.language && a.model === b.model
}

/** Returns all segments, sorted by channel, then by start. */
function segmentsInOrder(batches: readonly RecognizedBatch[]) {
  const segments = batches.flatMap(({ channel, segments }) => {
    return segments.map((recognized) => ({ channel, ...recognized }))
  })
  return segments.sort((a, b) => a.channel - b.channel || a.segment.start - b.segment.start)
}

function startOf({ words }: { words: readonly Word[] }): number {
  return words[0]!.start
}
