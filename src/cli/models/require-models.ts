import { findDamage, isInstallCurrent } from '../../asr/model-files/bundled-record.ts'
import type { Config } from '../../config/config.ts'
import { isPackage, REINSTALL_MODELS } from '../../config/installation.ts'
import { isWriteRefusal, makeFolder, refusedFolder } from '../../models/files/make-folder.ts'
import { withModelLock } from '../../models/install/lock.ts'

type ReportOptions = {
  /** Prints a line about each step of an installation. */
  printLine: (line: string) => void
  signal: AbortSignal
}

/**
 * Rejects, with the remedy, when the bundled models are missing, so that the start fails instead of
 * the first job. The npm package installs them here, when it is used first.
 */
export async function requireModels(
  { models: { folder } }: Pick<Config, 'models'>,
  reporting: ReportOptions,
): Promise<void> {
  if (isPackage) await installBundledModels(folder, reporting)
  const damaged = await findDamage(folder, { hashes: false })
  if (damaged.length === 0) return
  throw new Error(
    `Cannot find the speech models in ${folder} (STENO_MODELS_DIR): ${damaged.join(', ')} missing or damaged; ` +
      REINSTALL_MODELS,
  )
}

/**
 * Installs the bundled models of this version in `folder`, unless they are installed. If they
 * cannot be installed, those of an earlier version remain in use.
 */
export async function installBundledModels(
  folder: string,
  { printLine, signal }: ReportOptions,
): Promise<void> {
  if (await isInstallCurrent(folder)) return
  try {
    await makeFolder(folder)
    const onWait = () => printLine('Waiting for another process that installs the speech models')
    await withModelLock(folder, { id: 'embedded', signal, onWait }, async () => {
      const { installModels } = await import('../../asr/model-files/install-bundled.ts')
      await installModels(folder, printLine)
    })
  } catch (error) {
    if ((await findDamage(folder, { hashes: false })).length > 0)
      throw explainMissingModels(error, folder)
    printLine(`The speech models are those of an earlier version: ${(error as Error).message}`)
  }
}

/** Adds a remedy to the error of an installation, if there is one. */
export function explainMissingModels(error: unknown, folder: string): unknown {
  if (isWriteRefusal(error)) return refusedFolder(folder, error)
  const { message } = error as Error
  if (!message.startsWith('Cannot fetch')) return error
  const copy = `without a network, copy ${folder} from a machine that has it`
  return new Error(`${message}; ${copy}`, { cause: error })
}
