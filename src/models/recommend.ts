import { availableParallelism } from 'node:os'
import { type CatalogModel, downloadBytes, readCatalog } from './catalog.ts'

/** The resources of a machine. */
export type Machine = {
  /** The memory that loaded models may take. */
  memoryBytes: number
  cores: number
  /** Free bytes on the disk of the models folder. */
  freeBytes: number
}

/** A model for a machine, and the reason for the recommendation. */
export type Recommendation = { model: CatalogModel; reason: string }

/**
 * The disk space of an installation, as a multiple of the download: the download and its converted
 * files exist together.
 */
const DISK_FACTOR = 3

/**
 * The measured models, and the number of cores from which each runs faster than real time, the most
 * accurate first.
 */
const sizes: readonly { id: string; cores: number }[] = [
  { id: 'whisper-large-v3-turbo', cores: 8 },
  { id: 'whisper-small', cores: 4 },
  { id: 'whisper-base', cores: 2 },
  { id: 'whisper-tiny', cores: 1 },
]

/** Faster and, by published figures, more accurate, but not measured in this program. */
const ALTERNATIVE = 'parakeet-ultra'

/**
 * Returns the model to install for languages that no installed model knows: it knows all of them,
 * or else the first, its accuracy in this program was measured, and it fits the machine. Undefined
 * when there is none.
 */
export function suggestModel(
  languages: readonly string[],
  { memoryBytes = Number.POSITIVE_INFINITY, cores = availableParallelism() }: Partial<Machine> = {},
): CatalogModel | undefined {
  const machine = { memoryBytes, cores, freeBytes: Number.POSITIVE_INFINITY }
  const fitting = fittingSizes({ machine, catalog: readCatalog() })
  const allLanguages = fitting.find((model) => languages.every(isOf(model)))
  return allLanguages ?? fitting.find((model) => languages.slice(0, 1).some(isOf(model)))
}

/**
 * Recommends a model for some languages, or for all when none is named: one whose accuracy in this
 * program was measured. English needs no download. `alternatives` were not measured. Both are empty
 * when nothing fits.
 */
export function recommendModels(
  languages: readonly string[],
  { machine, catalog }: { machine: Machine; catalog: readonly CatalogModel[] },
): { recommended: Recommendation[]; alternatives: Recommendation[] } {
  const isEnglish = languages.length === 1 && languages[0] === 'en'
  const [best] = isEnglish ? [] : fittingSizes({ machine, catalog })
  const languagesText = languages.length > 0 ? languages.join(', ') : 'all languages'
  const identification = languages.length > 1 ? ', and tells them apart' : ''
  const recommended = best ? [{ model: best, reason: `for ${languagesText}${identification}` }] : []
  const other = catalog.find(({ id }) => id === ALTERNATIVE)
  const coveredLanguages = other ? languages.filter(isOf(other)) : []
  const isUseful = languages.length === 0 || coveredLanguages.length > 0
  if (!other || !isUseful || !fits(other, machine)) return { recommended, alternatives: [] }
  const languageNames =
    coveredLanguages.length > 0
      ? coveredLanguages.join(', ')
      : `${other.languages.length} languages`
  const reason = `for ${languageNames}, faster, more accurate by published figures, not measured in Steno`
  return { recommended, alternatives: [{ model: other, reason }] }
}

/** Returns the measured models that a machine runs, the most accurate first. */
function fittingSizes({
  machine,
  catalog,
}: {
  machine: Machine
  catalog: readonly CatalogModel[]
}): CatalogModel[] {
  return sizes.flatMap(({ id, cores }) => {
    const model = catalog.find((catalogModel) => catalogModel.id === id)
    return model && cores <= machine.cores && fits(model, machine) ? [model] : []
  })
}

function fits(model: CatalogModel, { memoryBytes, freeBytes }: Machine): boolean {
  return model.memoryBytes <= memoryBytes && downloadBytes(model) * DISK_FACTOR <= freeBytes
}

function isOf({ languages }: CatalogModel): (code: string) => boolean {
  return (code) => languages.includes(code)
}
