import { type CatalogModel, downloadBytes, readCatalog } from './catalog.ts'

/** What models have to share. */
export type Machine = {
  /** What loaded models may take. */
  memoryBytes: number
  cores: number
  /** On the disk of the models folder. */
  freeBytes: number
}

/** A model for a machine, and what it is for. */
export type Recommendation = { model: CatalogModel; reason: string }

/** A download and what is made of it are on the disk together. */
const DISK_FACTOR = 3

/** The most accurate one that a machine runs faster than speech, by the cores that this takes. */
const whispers: readonly { id: string; cores: number }[] = [
  { id: 'whisper-large-v3-turbo', cores: 8 },
  { id: 'whisper-small', cores: 4 },
  { id: 'whisper-base', cores: 2 },
  { id: 'whisper-tiny', cores: 1 },
]

/**
 * Returns the name of a model that knows all of these languages, or else the first of them:
 * accurate, and fit for most machines. Undefined when the catalog has none.
 */
export function suggestModel(languages: readonly string[]): string | undefined {
  const known = ['parakeet-ultra', 'whisper-small'].flatMap((name) => {
    return readCatalog().find(({ id }) => id === name) ?? []
  })
  const wholly = known.find((model) => languages.every((code) => model.languages.includes(code)))
  const partly = known.find((model) => model.languages.includes(languages[0] ?? ''))
  return (wholly ?? partly)?.id
}

/**
 * Recommends models for some languages, or for all when none is named: Parakeet where it knows
 * them, Whisper for the others, and a small Whisper that tells several languages apart. Returns an
 * empty list when none fits.
 */
export function recommendModels(
  languages: readonly string[],
  { machine, catalog }: { machine: Machine; catalog: readonly CatalogModel[] },
): Recommendation[] {
  const chosen: Recommendation[] = []
  const fits = (model: CatalogModel) => {
    const models = [...chosen.map((one) => one.model), model]
    const memory = models.reduce((sum, one) => sum + one.memoryBytes, 0)
    const disk = models.reduce((sum, one) => sum + downloadBytes(one), 0) * DISK_FACTOR
    return memory <= machine.memoryBytes && disk <= machine.freeBytes
  }
  const find = (id: string) => catalog.find((model) => model.id === id)
  const parakeet = find('parakeet-ultra')
  const known = languages.filter((code) => parakeet?.languages.includes(code))
  if (parakeet && (languages.length === 0 || known.length > 0) && fits(parakeet)) {
    const reason = known.length > 0 ? known.join(', ') : `${parakeet.languages.length} languages`
    chosen.push({ model: parakeet, reason: `the most accurate for ${reason}` })
  }
  const others = chosen.length > 0 ? languages.filter((code) => !known.includes(code)) : languages
  const isRest = languages.length === 0 || others.length > 0
  // English alone is there without a download.
  if (!isRest && languages.length < 2) return chosen
  if (others.length === 1 && others[0] === 'en' && chosen.length === 0) return chosen
  const sizes = whispers.filter(({ id, cores }) => {
    return cores <= machine.cores && (isRest || id === 'whisper-base' || id === 'whisper-tiny')
  })
  const whisper = sizes.map(({ id }) => find(id)).find((model) => model && fits(model))
  if (!whisper) return chosen
  const rest = others.length > 0 ? others.join(', ') : 'all other languages'
  const reason = isRest ? `for ${rest}` : 'tells the languages apart'
  return [...chosen, { model: whisper, reason }]
}
