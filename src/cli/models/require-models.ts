import { findDamage } from '../../asr/models/install-embedded.ts'
import type { Config } from '../../config.ts'

/** The command that reinstalls the models; npm runs it on the pinned Node. */
export const INSTALL_MODELS = 'npm run postinstall'

/**
 * Rejects, with the remedy, when the models are missing: better at the start than at the first job.
 */
export async function requireModels({ models: { folder } }: Pick<Config, 'models'>): Promise<void> {
  const damaged = await findDamage(folder, { hashes: false })
  if (damaged.length === 0) return
  throw new Error(
    `Cannot find the speech models in ${folder}: ${damaged.join(', ')} missing or damaged; ` +
      `run '${INSTALL_MODELS}' in the project folder`,
  )
}
