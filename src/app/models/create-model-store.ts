import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import { readCatalog } from '../../models/catalog.ts'
import { isInstalled } from '../../models/install/install.ts'
import type { ModelStore } from '../../models/model-store.ts'
import type { PullQueue } from '../../models/pull-queue.ts'
import { listAvailableModels, listLocalModels, listRemoteModels } from './model-list.ts'
import { removeModel } from './remove-model.ts'

/** Dependencies of the model store. */
export type ModelStoreOptions = {
  config: Pick<Config, 'models'>
  pulls: Pick<PullQueue, 'pull' | 'progressOf' | 'states'>
}

/** Creates the store of this machine's models, which operators list and change over HTTP. */
export function createModelStore({ config: { models }, pulls }: ModelStoreOptions): ModelStore {
  const { folder } = models
  const { signal } = new AbortController()
  return {
    async list() {
      const present = await listLocalModels(folder, { hashes: false, signal })
      return [...present, ...listRemoteModels(models), ...listAvailableModels(folder)]
    },
    pulls: () => pulls.states(),
    pull(name) {
      const model = readCatalog().find(({ id }) => id === name)
      if (!model) throw new AppError('model_not_found', name)
      if (isInstalled(folder, model)) return
      pulls.pull(model, { signal }).catch(() => {}) // The queue logs the error, and `pulls` reports it.
    },
    async remove(name) {
      if (pulls.progressOf({ id: name })) throw new AppError('model_pulled', name)
      const outcome = await removeModel(folder, { name, signal })
      if (outcome === 'bundled') throw new AppError('model_required', name)
      if (outcome === 'unknown' || outcome === 'not-installed') {
        throw new AppError('model_not_found', name)
      }
    },
  }
}
