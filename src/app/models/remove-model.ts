import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { removeSpeakerModel } from '../../asr/model-files/install-speaker-model.ts'
import { bundledModelList } from '../../models/bundled-models.ts'
import { readCatalog } from '../../models/catalog.ts'
import { removeStoredModel } from '../../models/install/install.ts'
import { storeFolder } from '../../models/install/installed-models.ts'
import {
  readInstalledModel,
  type SpeakerModelKind,
  speakerModelKinds,
} from '../../models/speaker-models.ts'

/**
 * What became of a removal: the model was of the store or an added one, is not installed, comes
 * with the program, or is unknown.
 */
export type Removal = 'removed' | SpeakerModelKind | 'not-installed' | 'bundled' | 'unknown'

/** Removes a model of the store, or one that was added from a file, by its name or kind. */
export async function removeModel(
  folder: string,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<Removal> {
  if (isOfStore(folder, name)) {
    const wasThere = await removeStoredModel(folder, { id: name, signal })
    return wasThere ? 'removed' : 'not-installed'
  }
  if (bundledModelList.some(({ id }) => id === name)) return 'bundled'
  const kind = speakerModelKinds.find((kind) => kind === name) ?? findByName(folder, name)
  if (kind === undefined || !(await removeSpeakerModel(folder, kind))) return 'unknown'
  return kind
}

/** A model of the catalog may have left downloads, also when it is not installed. */
function isOfStore(folder: string, name: string): boolean {
  if (readCatalog().some(({ id }) => id === name)) return true
  return /^[\w-][\w.-]*$/.test(name) && existsSync(join(storeFolder(folder), name))
}

function findByName(folder: string, name: string): SpeakerModelKind | undefined {
  return speakerModelKinds.find((kind) => {
    try {
      return readInstalledModel(folder, kind)?.name === name
    } catch {
      return false // Its name cannot be read; its kind removes it.
    }
  })
}
