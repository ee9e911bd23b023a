import { type LocalModel, readStoredModels } from '../../models/install/installed-models.ts'
import type { RecognizerInfo } from '../engines/recognizer.ts'
import { describeStored } from '../engines/stored-recognizers.ts'
import type { AvailableRecognizers } from './select-models.ts'

/** Milliseconds after which the folder is read again. */
const FRESH_MS = 3000

/** The bundled recognizers, and where and how to find the installed ones. */
export type InstalledRecognizersOptions = {
  /** The folder of the models. */
  folder: string
  bundled: AvailableRecognizers
  /** The maximum memory of all models, in bytes: a larger model is left out. */
  memory: number
  /** For tests. */
  describe?: (model: LocalModel) => RecognizerInfo | undefined
  /** Called once with each model that is left out because it is too large. */
  onTooLarge?: (model: LocalModel) => void
}

/** The recognizers that can be used now. */
export type InstalledRecognizers = {
  /** Reads the folder again if that was some seconds ago, or with `isFresh` in any case. */
  available(options?: { isFresh?: boolean }): AvailableRecognizers
  /** Returns the installed model of a recognizer; undefined for bundled ones. */
  findStored(id: string): LocalModel | undefined
}

/**
 * Keeps track of the models that are pulled and removed while the server runs. An installed model
 * with the id of a bundled one is left out. A streaming model is preferred for open utterances.
 */
export function createInstalledRecognizers(
  options: InstalledRecognizersOptions,
): InstalledRecognizers {
  const { folder, bundled, memory, describe = describeStored, onTooLarge } = options
  const tooLarge = new Set<string>()
  let readAt = Number.NEGATIVE_INFINITY
  let stored = new Map<string, LocalModel>()
  let recognizers = bundled

  function read(): void {
    readAt = performance.now()
    const bundledIds = new Set([...bundled.finals, ...bundled.partials].map(({ id }) => id))
    const finals = [...bundled.finals]
    const streaming: RecognizerInfo[] = []
    stored = new Map()
    for (const model of readStoredModels(folder)) {
      const info = bundledIds.has(model.id) ? undefined : describe(model)
      if (!info) continue
      if (model.memoryBytes > memory) {
        if (!tooLarge.has(model.id)) onTooLarge?.(model)
        tooLarge.add(model.id)
        continue
      }
      stored.set(info.id, model)
      finals.push(info)
      if (model.kind === 'streaming-recognition') streaming.push(info)
    }
    recognizers = { finals, partials: [...streaming, ...bundled.partials] }
  }

  return {
    available({ isFresh = false } = {}) {
      if (isFresh || performance.now() - readAt > FRESH_MS) read()
      return recognizers
    },
    findStored: (id) => stored.get(id),
  }
}
