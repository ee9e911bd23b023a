import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { removeModel } from '../../asr/models/install-speaker-model.ts'
import { readConfig } from '../../config.ts'
import { readCatalog } from '../../models/catalog.ts'
import { embeddedModelList } from '../../models/embedded.ts'
import { removeStoredModel } from '../../models/install.ts'
import { storeFolder } from '../../models/installed.ts'
import {
  readInstalledModel,
  type SpeakerModelKind,
  speakerModelKinds,
} from '../../models/speaker-models.ts'
import { parseArguments, readSettings, UsageError } from '../arguments.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { isSpeakerModelKind } from './add-speaker-model.ts'

/** `steno models remove`: deletes a model of the store, or one that was added from a file. */
export async function remove(args: string[], { env, stderr, signal }: Terminal): Promise<number> {
  const { positionals } = parseArguments(args, {})
  const [wanted, ...more] = positionals
  if (wanted === undefined || more.length > 0) throw new UsageError('remove takes a NAME or a KIND')
  const { folder } = readSettings(readConfig, env).models
  if (isOfStore(folder, wanted)) {
    if (!(await removeStoredModel(folder, { id: wanted, signal }))) {
      throw new Error(`Cannot remove '${wanted}': it is not installed`)
    }
    stderr.write(`${wanted} is removed.\n`)
    return 0
  }
  if (embeddedModelList.some(({ id }) => id === wanted)) {
    throw new Error(`Cannot remove '${wanted}': it comes with Steno, which needs it`)
  }
  const kind = isSpeakerModelKind(wanted) ? wanted : findByName(folder, wanted)
  if (kind === undefined || !(await removeModel(folder, kind))) {
    throw new Error(`Cannot remove '${wanted}': no such model was added`)
  }
  stderr.write(`The ${kind} model is removed; servers go on without it when started again.\n`)
  return 0
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
