import type { CatalogModel } from '../../models/catalog.ts'
import type { RecognizerEstimate } from '../engines/recognizer.ts'

/**
 * The sizes of Whisper, in the order of the error rates in the appendix of the paper
 * (https://arxiv.org/abs/2212.04356) and in the release notes of large-v3-turbo.
 */
const whisperSizes: readonly (RecognizerEstimate & { name: RegExp; maxBytes: number })[] = [
  { name: /turbo/, maxBytes: 0, wer: 0.08, realTimeFactor: 0.6 },
  { name: /tiny/, maxBytes: 0.45e9, wer: 0.4, realTimeFactor: 0.06 },
  { name: /base/, maxBytes: 0.8e9, wer: 0.28, realTimeFactor: 0.1 },
  { name: /small/, maxBytes: 1.6e9, wer: 0.14, realTimeFactor: 0.3 },
  { name: /medium/, maxBytes: 3.2e9, wer: 0.1, realTimeFactor: 0.9 },
  { name: /large/, maxBytes: Number.POSITIVE_INFINITY, wer: 0.07, realTimeFactor: 1.7 },
]

/**
 * Estimates a model by its engine and its name, or by its memory where that says nothing; undefined
 * for those that are good and fast.
 */
export function estimateModel({
  id,
  kind,
  engine,
  memoryBytes,
}: Pick<CatalogModel, 'id' | 'kind' | 'engine' | 'memoryBytes'>): RecognizerEstimate | undefined {
  if (engine === 'parakeet') return { wer: 0.06, realTimeFactor: 0.1 }
  // A streaming model decodes with less of the audio that follows.
  if (engine === 'sherpa') return { wer: kind === 'recognition' ? 0.1 : 0.2, realTimeFactor: 0.06 }
  if (engine !== 'whisper') return undefined
  const named = whisperSizes.find(({ name }) => name.test(id))
  const { wer, realTimeFactor } =
    named ?? whisperSizes.find(({ maxBytes }) => memoryBytes <= maxBytes)!
  return { wer, realTimeFactor }
}

/** Up to this share of wrong words a model is good. */
export const MAX_GOOD_WER = 0.15
