import type { LocalModel } from '../../../models/install/installed-models.ts'
import type { RecognizerInfo } from '../recognizer.ts'

/** These were trained to write down alone (release notes of large-v3-turbo, distil-whisper). */
const TRANSCRIBES_ONLY = /turbo|distil/

/** Returns the id and the capabilities of an installed Whisper model, without loading it. */
export function describeWhisper({
  id,
  revision,
  languages,
}: Pick<LocalModel, 'id' | 'revision' | 'languages'>): RecognizerInfo {
  // The models for English alone have no tokens of languages, nor of tasks.
  const isMultilingual = languages.length > 1
  return {
    id,
    revision,
    capabilities: {
      ...{ languages, wordTimes: true, maxSeconds: 30, vocabulary: true },
      identifiesLanguages: isMultilingual,
      translates: isMultilingual && !TRANSCRIBES_ONLY.test(id),
    },
  }
}
