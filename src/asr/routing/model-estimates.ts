import type { CatalogModel } from '../../models/catalog.ts'
import type { RecognizerEstimate } from '../engines/recognizer.ts'

/**
 * The sizes of Whisper, in the order of the error rates in the appendix of the paper
 * (https://arxiv.org/abs/2212.04356) and in the release notes of large-v3-turbo.
 */
const whispers: readonly (RecognizerEstimate & { name: RegExp; upTo: number })[] = [
  { name: /turbo/, upTo: 0, errors: 0.08, work: 0.6 },
  { name: /tiny/, upTo: 0.45e9, errors: 0.4, work: 0.06 },
  { name: /base/, upTo: 0.8e9, errors: 0.28, work: 0.1 },
  { name: /small/, upTo: 1.6e9, errors: 0.14, work: 0.3 },
  { name: /medium/, upTo: 3.2e9, errors: 0.1, work: 0.9 },
  { name: /large/, upTo: Number.POSITIVE_INFINITY, errors: 0.07, work: 1.7 },
]

/**
 * Estimates a model by its engine and its name, or by its memory where that says nothing; undefined
 * for those that are good and fast.
 */
export function estimateModel({
  id,
  kind,
  engine,
  memoryBytes,
}: Pick<CatalogModel, 'id' | 'kind' | 'engine' | 'memoryBytes'>): RecognizerEstimate | undefined {
  if (engine === 'parakeet') return { errors: 0.06, work: 0.1 }
  // A streaming model decides with less of what follows.
  if (engine === 'sherpa') return { errors: kind === 'recognition' ? 0.1 : 0.2, work: 0.06 }
  if (engine !== 'whisper') return undefined
  const named = whispers.find(({ name }) => name.test(id))
  const { errors, work } = named ?? whispers.find(({ upTo }) => memoryBytes <= upTo)!
  return { errors, work }
}

/** Up to this share of wrong words a model is good. */
export const GOOD_ERRORS = 0.15
