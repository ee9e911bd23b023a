import type { LocalModel } from '../../../models/install/installed-models.ts'
import type { RecognizerInfo, RecognizerThresholds } from '../recognizer.ts'

/** When results of Parakeet are trusted; not tuned, since its weights were not available. */
export const parakeetThresholds: RecognizerThresholds = {
  minRetryLogProb: -0.8,
  minLogProb: -1,
  minConfidenceInNoise: 0.1,
  minPartialLogProb: -1,
  minPartialWordConfidence: 0.5,
}

/** Returns the id and the capabilities of an installed Parakeet model, without loading it. */
export function describeParakeet({
  id,
  revision,
  languages,
}: Pick<LocalModel, 'id' | 'revision' | 'languages'>): RecognizerInfo {
  const capabilities = { languages, wordTimes: true, maxSeconds: 30, vocabulary: true }
  return { id, revision, capabilities }
}
