import type { LocalModel } from '../../../models/install/installed-models.ts'
import type { RecognizerInfo } from '../recognizer.ts'

/**
 * Models that were trained to transcribe only (release notes of large-v3-turbo, distil-whisper).
 */
const TRANSCRIBES_ONLY = /turbo|distil/

/** Returns the id and the capabilities of an installed Whisper model, without loading it. */
export function describeWhisper({
  id,
  revision,
  languages,
}: Pick<LocalModel, 'id' | 'revision' | 'languages'>): RecognizerInfo {
  // English-only models have no language tokens and no task tokens.
  const isMultilingual = languages.length > 1
  return {
    id,
    revision,
    capabilities: {
      languages,
      wordTimes: true,
      maxSeconds: 30,
      vocabulary: true,
      identifiesLanguages: isMultilingual,
      translates: isMultilingual && !TRANSCRIBES_ONLY.test(id),
    },
  }
}
