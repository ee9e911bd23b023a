import type { LocalModel } from '../../../models/install/installed-models.ts'
import type { RecognizerCapabilities, RecognizerInfo } from '../recognizer.ts'
import { readSherpaLayout, type SherpaFamily } from './layout.ts'

/** GigaAM takes 25 s; the others take more, but were trained with about that. */
const MAX_SECONDS = 25

/** Families whose text has neither times nor probabilities of its tokens in sherpa-onnx. */
const untimed: readonly SherpaFamily[] = ['canary', 'fire-red']

/**
 * Returns the id and the capabilities of an installed model of sherpa-onnx, without loading it;
 * undefined when its folder holds none that we run.
 */
export function describeSherpa({
  id,
  revision,
  languages,
  folder,
}: Pick<LocalModel, 'id' | 'revision' | 'languages' | 'folder'>): RecognizerInfo | undefined {
  const family = familyIn(folder)
  return family && { id, revision, capabilities: sherpaCapabilities(family, languages) }
}

/** Returns what models of a family can do. */
export function sherpaCapabilities(
  family: SherpaFamily,
  languages: readonly string[],
): RecognizerCapabilities {
  return {
    languages,
    wordTimes: !untimed.includes(family),
    maxSeconds: MAX_SECONDS,
    vocabulary: family === 'transducer',
    identifiesLanguages: family === 'sense-voice' && languages.length > 1,
  }
}

function familyIn(folder: string): SherpaFamily | undefined {
  try {
    return readSherpaLayout(folder).family
  } catch {
    return undefined
  }
}
