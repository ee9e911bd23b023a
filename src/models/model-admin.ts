import type { EngineName, MeasurementSource, ModelKind } from './catalog.ts'
import type { PullState } from './pull-queue.ts'

/**
 * The states of a model. `outdated`: installed, but the catalog names another revision.
 * `configured`: it runs on another server.
 */
export const modelStates = [
  'installed',
  'configured',
  'outdated',
  'available',
  'missing',
  'damaged',
  'unreadable',
] as const
/** One of `modelStates`. */
export type ModelState = (typeof modelStates)[number]

/** A model that is installed, configured or available. */
export type ListedModel = {
  name: string
  /**
   * The source of the model: the program, a file of the operator, the catalog, or a remote server.
   */
  origin: 'program' | 'file' | 'store' | 'server'
  kind: ModelKind
  /** The text shown to users instead of the kind. */
  purpose: string
  engine: EngineName | undefined
  /** Empty when it works with any language. */
  languages: readonly string[]
  license: string | undefined
  credit: string | undefined
  /** The size of its files, or of its downloads while it is not installed. */
  bytes: number
  memoryBytes: number | undefined
  state: ModelState
  /** Whether its accuracy in this program was measured; undefined = not by us. */
  measured: MeasurementSource | undefined
}

/** Lists, pulls and removes the models of this machine, for operators. */
export type ModelAdmin = {
  /** Lists the installed and configured models, then the available ones of the catalog. */
  list(): Promise<ListedModel[]>
  /** Returns the pulls that run or wait, and those that failed in the last minute. */
  pulls(): PullState[]
  /**
   * Starts to pull a model of the catalog, unless it is installed or being pulled. Throws
   * `model_not_found`.
   */
  pull(name: string): void
  /**
   * Removes an installed model; running tasks finish with it. Throws `model_not_found`,
   * `model_pulled` while it is being pulled, or `model_required` when it comes with the program.
   */
  remove(name: string): Promise<void>
}
