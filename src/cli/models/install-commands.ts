import { readdir, stat } from 'node:fs/promises'
import { canonicalLanguage, transcriptionCodes } from '../../api/schemas/models/language-codes.ts'
import { conversions } from '../../app/models/conversions.ts'
import { readConfig } from '../../config/config.ts'
import { REINSTALL_MODELS } from '../../config/installation.ts'
import { bundledModelList } from '../../models/bundled-models.ts'
import { type CatalogModel, readCatalog } from '../../models/catalog.ts'
import {
  type CheckpointForm,
  describeCheckpoint,
  whisperCheckpoint,
} from '../../models/install/describe-checkpoint.ts'
import { findModels, type ImportCandidate, importModel } from '../../models/install/import-model.ts'
import type { InstallOptions } from '../../models/install/install.ts'
import { pullModel } from '../../models/pull.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { explainReading } from '../terminal/file-errors.ts'
import { createProgressDisplay, type ProgressDisplay } from '../terminal/progress-display.ts'
import { sanitize } from '../terminal/sanitize.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { showInstallation } from './install-progress.ts'

/** `steno models pull`: downloads and installs models of the catalog. */
export async function pull(args: string[], terminal: Terminal): Promise<number> {
  const { positionals } = parseArguments(args, {})
  if (positionals.length === 0) throw new UsageError('name at least one model')
  await pullModels([...new Set(positionals)].map(findModel), terminal)
  return 0
}

/** Pulls models one after the other, and shows the progress. */
export async function pullModels(
  models: readonly CatalogModel[],
  { env, stderr, signal }: Pick<Terminal, 'env' | 'stderr' | 'signal'>,
): Promise<void> {
  const { folder, sources } = readSettings(readConfig, env).models
  const progress = createProgressDisplay(stderr)
  for (const model of models) {
    const onRetry = (problem: string) => progress.printLine(`${model.id}: ${problem}; trying again`)
    await showInstallProgress(model.id, progress, (onStep) => {
      return pullModel(folder, model, { conversions, sources, signal, onStep, onRetry })
    })
    printCredit(model, progress)
  }
}

/** `steno models import`: installs the models that a folder contains. */
export async function importFolder(args: string[], terminal: Terminal): Promise<number> {
  const options = { as: { type: 'string' }, languages: { type: 'string' } } as const
  const { values, positionals } = parseArguments(args, options)
  const [source, ...names] = positionals
  if (source === undefined) throw new UsageError('import takes a FOLDER')
  const sourceStat = await stat(source).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') throw error
    return undefined
  })
  if (!sourceStat?.isDirectory()) {
    const problem = sourceStat ? 'it is not a folder' : 'the folder does not exist'
    throw new UsageError(`Cannot import ${source}: ${problem}`)
  }
  if (values.as !== undefined) {
    if (names.length > 0) throw new UsageError('--as takes one FOLDER and no names')
    return importCheckpoint(source, { id: values.as, languages: values.languages }, terminal)
  }
  if (values.languages !== undefined) throw new UsageError('--languages needs --as')
  return importCatalogModels(source, names, terminal)
}

async function importCatalogModels(
  source: string,
  names: readonly string[],
  { env, stderr, signal }: Terminal,
): Promise<number> {
  const { folder } = readSettings(readConfig, env).models
  const progress = createProgressDisplay(stderr)
  const catalog = names.length > 0 ? names.map(findModel) : readCatalog()
  progress.printLine(`Looking for models in ${source}`)
  const onUnreadable = (path: string, error: unknown) => {
    progress.printLine(`Left out ${sanitize(path)}: ${explainReading(error)}`)
  }
  const models = await findModels(source, { catalog, onUnreadable, signal })
  for (const { model, missing } of models) {
    if (missing.length === 0) continue
    progress.printLine(`${model.id} is not complete there: it lacks ${missing.join(', ')}`)
  }
  const complete = models.filter(({ missing }) => missing.length === 0)
  for (const candidate of complete) await importOne(folder, candidate, { progress, signal })
  const notFound = names.filter((name) => !complete.some(({ model }) => model.id === name))
  if (complete.length > 0 && notFound.length === 0) return 0
  throw new Error(
    `Cannot import ${notFound.join(', ') || 'anything'} from ${source}: files are missing`,
  )
}

async function importCheckpoint(
  source: string,
  { id, languages }: { id: string; languages: string | undefined },
  { env, stderr, signal }: Terminal,
): Promise<number> {
  if (!/^[a-z0-9][a-z0-9.-]{0,60}$/.test(id)) {
    throw new UsageError(`--as must be lower-case letters, digits, dots and hyphens, not '${id}'`)
  }
  if (languages === undefined) throw new UsageError('--as needs --languages, such as de,fr')
  const { folder } = readSettings(readConfig, env).models
  const progress = createProgressDisplay(stderr)
  const format = await detectFormat(source)
  const target = { id, languages: readLanguages(languages), signal }
  const checkpoint = await describeCheckpoint(source, format, target)
  await importOne(folder, checkpoint, { progress, signal })
  return 0
}

/**
 * Detects the format of a checkpoint: a folder with .onnx files is a model of sherpa-onnx, any
 * other a checkpoint of Whisper.
 */
async function detectFormat(source: string): Promise<CheckpointForm> {
  const names = await readdir(source)
  if (!names.some((name) => name.endsWith('.onnx'))) return whisperCheckpoint
  const { describeFolder } = await import('../../asr/engines/sherpa/describe-folder.ts')
  try {
    return describeFolder(source)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot import ${source}: ${problem}`, { cause })
  }
}

async function importOne(
  folder: string,
  candidate: ImportCandidate,
  { progress, signal }: { progress: ProgressDisplay; signal: AbortSignal },
): Promise<void> {
  const { model } = candidate
  await showInstallProgress(model.id, progress, (onStep) => {
    return importModel(folder, candidate, { conversions, signal, onStep })
  })
  printCredit(model, progress)
}

/** Runs an installation, and shows its steps and outcome. */
async function showInstallProgress(
  name: string,
  progress: ProgressDisplay,
  install: (onStep: InstallOptions['onStep']) => Promise<boolean>,
): Promise<void> {
  try {
    const isNew = await install(showInstallation(name, progress))
    progress.end(name)
    progress.printLine(isNew ? `${name} is installed.` : `${name} was installed already.`)
  } finally {
    progress.end(name)
    progress.clear()
  }
}

/** Prints the credit of a model: some licenses require it wherever a model is passed on. */
function printCredit({ license, credit }: CatalogModel, progress: ProgressDisplay): void {
  if (credit !== undefined) progress.printLine(`  ${credit} (${license})`)
}

function findModel(name: string): CatalogModel {
  const model = readCatalog().find(({ id }) => id === name)
  if (model) return model
  if (bundledModelList.some(({ id }) => id === name)) {
    throw new UsageError(`${name} comes with Steno; to install it again, ${REINSTALL_MODELS}`)
  }
  const names = readCatalog().map(({ id }) => id)
  throw new UsageError(`the catalog has no model '${name}'; it has ${names.join(', ')}`)
}

/** Reads comma-separated language codes. */
export function readLanguages(text: string): string[] {
  const codes = text.split(',').map((code) => code.trim().toLowerCase())
  return codes.map((code) => {
    const languageCode = canonicalLanguage(code, transcriptionCodes)
    if (transcriptionCodes.includes(languageCode)) return languageCode
    throw new UsageError(
      `unknown language code '${code}' in --languages; use codes such as de or fr`,
    )
  })
}
