import { readConfig } from '../../../config/config.ts'
import { checkRemoteEngine } from '../../models/check-remote-engine.ts'
import { checkSpeakerModels } from '../../models/check-speaker-models.ts'
import { checkStoredModels } from '../../models/check-stored-models.ts'
import { makeFilesPrivate } from '../../server/private-files.ts'
import { parseArguments, UsageError } from '../../terminal/arguments.ts'
import type { Command, Terminal } from '../../terminal/terminal.ts'
import { checkConfinement, checkUser } from './check-confinement.ts'
import { checkLanguageServices } from './check-language-services.ts'
import {
  type CheckResult,
  checkDatabase,
  checkDataFolder,
  checkDecoder,
  checkDevice,
  checkModelFiles,
  checkNode,
  checkObjectStore,
  checkPort,
  checkPrivacy,
  checkRecognition,
  checkRuntime,
  checkSettings,
  checkTemporaryFolder,
} from './checks.ts'

const help = `Usage: steno doctor

Checks this installation with the settings of this shell: Node, settings, models, the language model and other
translators, decoder, user, data folder, database, object store, port, and, if the models are installed, the
recognition of one second. Each line shows ok, warn or fail, and the remedy.
The exit code is 1 if a check failed.
`

/** `steno doctor`: reports what is missing on this machine, and the remedies. */
export const doctorCommand: Command = {
  help,
  async run(args, { env, stdout, signal }) {
    if (parseArguments(args, {}).positionals.length > 0) {
      throw new UsageError('doctor takes no arguments')
    }
    makeFilesPrivate()
    let failed = 0
    for await (const { state, text, remedy } of examine(env, signal)) {
      stdout.write(`${state.padEnd(4)}  ${text}\n`)
      if (remedy !== undefined) stdout.write(`      → ${remedy}\n`)
      if (state === 'fail') failed++
    }
    return failed > 0 ? 1 : 0
  },
}

async function* examine(env: Terminal['env'], signal: AbortSignal): AsyncGenerator<CheckResult> {
  yield checkNode()
  yield* checkSettings(env)
  const config = readOrDefault(env)
  const models = await checkModelFiles(config)
  yield models
  yield await checkStoredModels(config, signal)
  const temporaryFolderProblem = await checkTemporaryFolder()
  if (temporaryFolderProblem) yield temporaryFolderProblem
  else yield* await checkRemoteEngine(config, signal)
  yield* await checkLanguageServices(config, signal)
  yield await checkRuntime()
  const device = await checkDevice(config)
  if (device) yield device
  yield await checkSpeakerModels(config, signal)
  if (!temporaryFolderProblem) yield await checkDecoder(config, signal)
  yield await checkConfinement()
  yield checkUser()
  yield await checkDataFolder(config)
  yield await checkPrivacy(config)
  yield await checkDatabase(config)
  const objectStore = await checkObjectStore(config)
  if (objectStore) yield objectStore
  yield await checkPort(config)
  // Runs only with intact models, because its remedy would differ.
  if (models.state === 'ok') yield await checkRecognition(config, signal)
}

/** Reads the settings. If they are invalid, returns the defaults, so that the other checks run. */
function readOrDefault(env: Terminal['env']) {
  try {
    return readConfig(env)
  } catch {
    return readConfig({})
  }
}
