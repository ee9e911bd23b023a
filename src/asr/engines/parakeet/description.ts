import type { StoredModel } from '../../../models/install/installed-models.ts'
import type { RecognizerInfo, RecognizerProfile } from '../recognizer.ts'

/** How far Parakeet is believed: not tuned, since its weights were not at hand. */
export const parakeetProfile: RecognizerProfile = {
  acceptRetry: -0.8,
  doubtText: -1,
  keepInNoise: 0.1,
  showPartial: -1,
  showWord: 0.5,
  partialSeconds: 20,
}

/** Returns the id and the capabilities of an installed Parakeet model, without loading it. */
export function describeParakeet({
  id,
  revision,
  languages,
}: Pick<StoredModel, 'id' | 'revision' | 'languages'>): RecognizerInfo {
  const capabilities = { languages, wordTimes: true, maxSeconds: 30, vocabulary: true }
  return { id, revision, capabilities }
}
