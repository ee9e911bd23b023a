import type { Config } from '../../config/config.ts'
import type { CheckResult } from '../operations/doctor/checks.ts'

// Modules that may fail to load are imported inside the function: whether they load is part of the
// check.

/** Checks whether every byte of the installed models is unchanged, and reports their names. */
export async function checkStoredModels(
  { models: { folder, memory } }: Pick<Config, 'models'>,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { listLocalModels } = await import('../../app/models/model-list.ts')
  const present = await listLocalModels(folder, { hashes: true, signal })
  const stored = present.filter(({ origin }) => origin === 'store')
  if (stored.length === 0) {
    const text = "models for more languages: none; 'steno setup' recommends some"
    return { state: 'ok', text }
  }
  const broken = stored.filter(({ state }) => state === 'damaged' || state === 'unreadable')
  if (broken.length > 0) {
    const text = `models for more languages: ${broken.map((model) => `${model.name} is ${model.state}`).join(', ')}`
    const names = broken.map(({ name }) => name).join(' ')
    const remedy = `run 'steno models remove NAME', then 'steno models pull ${names}', to install them again`
    return { state: 'fail', text, remedy }
  }
  const tooLarge = stored.filter(({ memoryBytes = 0 }) => memoryBytes > memory)
  if (tooLarge.length > 0) {
    const names = tooLarge.map(({ name }) => name).join(', ')
    const text = `models for more languages: ${names} left out, larger than STENO_MODEL_MEMORY`
    return { state: 'warn', text, remedy: `raise it above ${memory} bytes, or remove them` }
  }
  const outdated = stored.filter(({ state }) => state === 'outdated').map(({ name }) => name)
  const text = `models for more languages: ${stored.map(({ name }) => name).join(', ')}, checksums match`
  if (outdated.length === 0) return { state: 'ok', text }
  const remedy = `'steno models pull ${outdated.join(' ')}' installs the newer ones of the catalog`
  return { state: 'warn', text: `${text}; outdated: ${outdated.join(', ')}`, remedy }
}
