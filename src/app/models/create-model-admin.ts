import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import { readCatalog } from '../../models/catalog.ts'
import { isInstalled } from '../../models/install/install.ts'
import type { ModelAdmin } from '../../models/model-admin.ts'
import type { PullQueue } from '../../models/pull-queue.ts'
import { listAvailableModels, listLocalModels, listRemoteModels } from './model-list.ts'
import { removeModel } from './remove-model.ts'

/** Dependencies of `createModelAdmin`. */
export type ModelAdminOptions = {
  config: Pick<Config, 'models'>
  pulls: Pick<PullQueue, 'pull' | 'progressOf' | 'states'>
}

/** Creates what lists, pulls and removes the models of this machine for operators. */
export function createModelAdmin({ config: { models }, pulls }: ModelAdminOptions): ModelAdmin {
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
