import type { PullQueue } from '../../models/pull-queue.ts'
import { REMOTE } from '../engines/remote/remote-id.ts'
import type { ModelInstaller } from '../speech-engine.ts'
import { type AvailableRecognizers, languagesOf } from './select-models.ts'

/** Dependencies of the installer. */
export type MissingModelsOptions = {
  pulls: PullQueue
  /** Reads what is installed; with `isFresh` in any case from the disk. */
  available(options?: { isFresh: boolean }): AvailableRecognizers
  /** Whether a model is installed, although it may be left out. */
  isInstalled(id: string): boolean
}

/** Creates the installer of models for languages that no recognizer knows. */
export function createModelInstaller({
  pulls,
  available,
  isInstalled,
}: MissingModelsOptions): ModelInstaller {
  return {
    findMissing({ languages, model: requested }) {
      if (requested === REMOTE) return undefined
      const missingFrom = (supportedLanguages: readonly string[]) =>
        languages.filter((code) => !supportedLanguages.includes(code))
      if (missingFrom(languagesOf(available())).length === 0) return undefined
      const unknown = missingFrom(languagesOf(available({ isFresh: true })))
      const model = unknown.length > 0 ? pulls.suggest(languages) : undefined
      if (!model || isInstalled(model.id)) return undefined
      if (!unknown.some((code) => model.languages.includes(code))) return undefined
      return { model, progress: pulls.progressOf(model), failure: pulls.recentFailure(model) }
    },
    install: ({ model }, options) => pulls.pull(model, options),
  }
}
