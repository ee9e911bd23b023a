import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline/promises'
import type { Writable } from 'node:stream'
import { removeDamagedPrepacked } from '../../asr/model-files/prepacked/prepacked-models.ts'
import { type Config, readConfig } from '../../config/config.ts'
import { isPackage } from '../../config/installation.ts'
import { downloadBytes, readCatalog } from '../../models/catalog.ts'
import { makeFolder } from '../../models/files/make-folder.ts'
import { isInstalled } from '../../models/install/install.ts'
import { type Machine, type Recommendation, recommendModels } from '../../models/recommend.ts'
import { createDiskMeter } from '../../storage/data-folder/disk.ts'
import { pullModels, readLanguages } from '../models/install-commands.ts'
import { inMegabytes } from '../models/install-progress.ts'
import { installBundledModels } from '../models/require-models.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { createProgressDisplay } from '../terminal/progress-display.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'

const help = `Usage: steno setup [--languages CODES] [--yes]

Recommends speech models for your languages and this machine (its cores, free disk space and STENO_MODEL_MEMORY),
and downloads them. English needs none of them. Asks before it downloads; without a terminal it only recommends,
unless you pass --yes. After 'npm install -g' it first downloads the English model (80 MB), which the first use
would download otherwise.

  --languages CODES   the languages of your recordings, such as de,fr; default: asks, or all of them
  --yes               downloads without asking
`

/** `steno setup`: chooses models for a machine, and pulls them. */
export const setupCommand: Command = {
  help,
  async run(args, terminal) {
    const options = { languages: { type: 'string' }, yes: { type: 'boolean' } } as const
    const { values, positionals } = parseArguments(args, options)
    if (positionals.length > 0) throw new UsageError('setup takes options only')
    const { models } = readSettings(readConfig, terminal.env)
    const { folder } = models
    await makeFolder(folder)
    if (isPackage) await installBundled(folder, terminal)
    const machine = await measureMachine(models)
    const { stdout } = terminal
    stdout.write(`This machine: ${describeMachine(machine)} free in ${folder}.\n`)
    const languageAnswer =
      values.languages ?? (values.yes ? '' : await askQuestion(LANGUAGE_QUESTION, terminal))
    const languages = languageAnswer ? readLanguages(languageAnswer) : []
    const recommendations = recommendModels(languages, { machine, catalog: readCatalog() })
    const isMissing = ({ model }: Recommendation) => !isInstalled(folder, model)
    const missing = recommendations.recommended.filter(isMissing)
    stdout.write(
      describeRecommendations(recommendations.recommended, { isMissing, title: 'Recommended' }),
    )
    if (recommendations.recommended.length === 0) stdout.write(nothingFound(languages))
    stdout.write(describeRecommendations(recommendations.alternatives, { isMissing, title: 'Or' }))
    if (missing.length === 0) return 0
    if (!values.yes && !(await confirmDownload(missing, terminal))) return 0
    await pullModels(
      missing.map(({ model }) => model),
      terminal,
    )
    return 0
  },
}

/**
 * Installs the bundled models of the npm package, and removes damaged prepacked ones, which the
 * next server writes again; in a checkout, `npm run models` does both.
 */
async function installBundled(folder: string, { stderr, signal }: Terminal): Promise<void> {
  const progress = createProgressDisplay(stderr)
  await installBundledModels(folder, {
    printLine: (stage) => progress.show('steno', { stage }),
    signal,
  })
  await removeDamagedPrepacked(folder)
  progress.end('steno')
}

const LANGUAGE_QUESTION = 'Which languages, such as de,fr? (empty: all) '

async function measureMachine({ folder, memory }: Config['models']): Promise<Machine> {
  const { free: freeBytes } = await createDiskMeter(folder)()
  return { memoryBytes: memory, cores: availableParallelism(), freeBytes }
}

function describeMachine({ memoryBytes, cores, freeBytes }: Machine): string {
  const disk = freeBytes === Number.POSITIVE_INFINITY ? 'enough' : inMegabytes(freeBytes)
  return `${cores} cores, ${inMegabytes(memoryBytes)} of memory for models, ${disk}`
}

function nothingFound(languages: readonly string[]): string {
  const isEnglish = languages.length === 1 && languages[0] === 'en'
  if (isEnglish) return 'English needs no download: the bundled model recognizes it.\n'
  return 'No further model fits; English works with the bundled one.\n'
}

function describeRecommendations(
  recommendations: readonly Recommendation[],
  { isMissing, title }: { isMissing: (recommendation: Recommendation) => boolean; title: string },
): string {
  if (recommendations.length === 0) return ''
  const lines = recommendations.map((recommendation) => {
    const { id, memoryBytes } = recommendation.model
    const needs = `${inMegabytes(downloadBytes(recommendation.model))}, ${inMegabytes(memoryBytes)} of memory`
    const state = isMissing(recommendation) ? needs : 'installed'
    return `  ${id}: ${recommendation.reason} (${state})\n`
  })
  return `${title}:\n${lines.join('')}`
}

async function confirmDownload(
  missing: readonly Recommendation[],
  terminal: Terminal,
): Promise<boolean> {
  if (!isInteractive(terminal)) {
    const names = missing.map(({ model }) => model.id).join(' ')
    terminal.stdout.write(`To download them: steno models pull ${names}\n`)
    return false
  }
  const bytes = missing.reduce((sum, { model }) => sum + downloadBytes(model), 0)
  const answer = await askQuestion(`Download ${inMegabytes(bytes)} now? [Y/n] `, terminal)
  return /^(y|yes)?$/i.test(answer)
}

/** Returns the answer of the user; an empty string if the terminal is not interactive. */
async function askQuestion(question: string, terminal: Terminal): Promise<string> {
  if (!isInteractive(terminal)) return ''
  const { stdin, stderr, signal } = terminal
  const lines = createInterface({ input: stdin, output: stderr as unknown as Writable })
  try {
    return (await lines.question(question, { signal })).trim()
  } finally {
    lines.close()
  }
}

function isInteractive({ stdin, stdout }: Terminal): boolean {
  return (stdin as { isTTY?: boolean }).isTTY === true && stdout.isTTY === true
}
