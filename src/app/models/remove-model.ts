import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { removeSpeakerModel } from '../../asr/model-files/install-speaker-model.ts'
import { bundledModelList } from '../../models/bundled-models.ts'
import { readCatalog } from '../../models/catalog.ts'
import { removeStoredModel } from '../../models/install/install.ts'
import { storeFolder } from '../../models/install/installed-models.ts'
import {
  readSpeakerModel,
  type SpeakerModelKind,
  speakerModelKinds,
} from '../../models/speaker-models.ts'

/**
 * The outcome of a removal: a model of the store was removed, an added speaker model of this kind
 * was removed, or the model is not installed, bundled, or unknown.
 */
export type Removal = 'removed' | SpeakerModelKind | 'not-installed' | 'bundled' | 'unknown'

/**
 * Removes a model of the store, or one that was added from a file, by its name or kind. Calls
 * `onWait` when it waits for another process that installs the model.
 */
export async function removeModel(
  folder: string,
  { name, signal, onWait }: { name: string; signal: AbortSignal; onWait?: () => void },
): Promise<Removal> {
  if (isOfStore(folder, name)) {
    const wasInstalled = await removeStoredModel(folder, { id: name, signal, onWait })
    return wasInstalled ? 'removed' : 'not-installed'
  }
  if (bundledModelList.some(({ id }) => id === name)) return 'bundled'
  const kind = speakerModelKinds.find((kind) => kind === name) ?? findKindByName(folder, name)
  if (kind === undefined) return 'unknown'
  return (await removeSpeakerModel(folder, kind, { signal, onWait })) ? kind : 'unknown'
}

/**
 * Returns true for a model of the catalog, which may have left downloads even if it is not
 * installed, and for a model in the store.
 */
function isOfStore(folder: string, name: string): boolean {
  if (readCatalog().some(({ id }) => id === name)) return true
  return /^[\w-][\w.-]*$/.test(name) && existsSync(join(storeFolder(folder), name))
}

/** Returns the kind of the added speaker model that has a name. */
export function findKindByName(folder: string, name: string): SpeakerModelKind | undefined {
  return speakerModelKinds.find((kind) => {
    try {
      return readSpeakerModel(folder, kind)?.name === name
    } catch {
      return false // Its name cannot be read; its kind removes it.
    }
  })
}
