import type { Batch, RecognizedSegment } from '../../../asr/speech-engine.ts'
import { hashOfJson, openCheckpointFile } from './checkpoint-file.ts'

/** The segments that this attempt or an earlier one has recognized, by batch. */
export type RecognitionCheckpoint = {
  find(batch: Batch): RecognizedSegment[] | undefined
  /** Resolves once the result of the batch is on disk. */
  append(batch: Batch, recognized: RecognizedSegment[]): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a file of one JSON line per batch. Lines of older versions have no key, because they do not
 * name the model; their batches are recognized again.
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
 * Returns the key of a batch: a hash of its segments and of all recognition settings, so that
 * results of another plan, model, vocabulary or language are never reused.
 */
function batchKey({ channel, segments, fusedWith, ...batch }: Batch): string {
  const { model, language, languages, vocabulary } = batch
  const spans = segments.map(({ start, end }) => [start, end])
  return hashOfJson([channel, spans, [model, fusedWith], language, languages, vocabulary])
}
