import type { Batch, RecognizedSegment } from '../../../asr/speech-engine.ts'
import { hashOfJson, openCheckpointFile } from './checkpoint-file.ts'

/** The segments recognized so far in the batches of one job, including by an earlier attempt. */
export type RecognitionCheckpoint = {
  find(batch: Batch): RecognizedSegment[] | undefined
  /** Resolves once the result of the batch is on disk. */
  append(batch: Batch, recognized: RecognizedSegment[]): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a file of one JSON line per batch. A batch of an older version, whose lines have no key, is
 * recognized again: they do not say which model wrote them.
 */
export async function openRecognitionCheckpoint(path: string): Promise<RecognitionCheckpoint> {
  const lines = await openCheckpointFile<RecognizedSegment[]>(path, 'recognized')
  return {
    find: (batch) => lines.find(batchKey(batch)),
    append: (batch, recognized) => lines.append(batchKey(batch), recognized),
    close: lines.close,
  }
}

/**
 * Identifies a batch by its segments and by how they are recognized, so that words of another plan,
 * model, vocabulary or other languages are never used.
 */
function batchKey({ channel, segments, fusedWith, ...batch }: Batch): string {
  const { model, language, languages, vocabulary } = batch
  const spans = segments.map(({ start, end }) => [start, end])
  return hashOfJson([channel, spans, [model, fusedWith], language, languages, vocabulary])
}
