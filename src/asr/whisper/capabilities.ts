import type { StoredModel } from '../../models/installed.ts'
import type { RecognizerInfo } from '../recognizer.ts'

/** Returns the id and the capabilities of an installed Whisper model, without loading it. */
export function describeWhisper({
  id,
  revision,
  languages,
}: Pick<StoredModel, 'id' | 'revision' | 'languages'>): RecognizerInfo {
  return {
    id,
    revision,
    capabilities: {
      ...{ languages, wordTimes: true, maxSeconds: 30, vocabulary: true },
      // The models for English alone have no tokens of languages.
      identifiesLanguages: languages.length > 1,
    },
  }
}
