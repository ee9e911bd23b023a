import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Whether this program runs from an npm package, which contains JavaScript; a checkout runs
 * TypeScript.
 */
export const isPackage = !import.meta.filename.endsWith('.ts')

/**
 * The command by which users run this program; `npx steno-server` if npm fetched it for one
 * command.
 */
export const commandName = nameCommand()

/** The remedy when a part of the program is missing. */
export const REINSTALL = isPackage
  ? "install it again with 'npm install -g steno-server'"
  : "run 'npm ci' in the project folder"

/** The remedy when the bundled models are missing. */
export const REINSTALL_MODELS = isPackage
  ? `run '${commandName} setup'`
  : "run 'npm run models' in the project folder"

/**
 * Returns the folder of the models unless a setting names one. A checkout holds its own. The folder
 * of a package may belong to another user, and an update replaces it: its models are in the cache
 * folder of the user.
 */
export function defaultModelsFolder(env: Record<string, string | undefined>): string {
  if (!isPackage) return fileURLToPath(new URL('../../models', import.meta.url))
  return join(userCacheFolder(env, process.platform), 'steno', 'models')
}

/** Returns the cache folder of the user on `platform`, for data that programs can fetch again. */
export function userCacheFolder(
  env: Record<string, string | undefined>,
  platform: NodeJS.Platform,
): string {
  if (platform === 'win32') return env.LOCALAPPDATA || join(homeFolder(), 'AppData', 'Local')
  if (platform === 'darwin') return join(homeFolder(), 'Library', 'Caches')
  return env.XDG_CACHE_HOME || join(homeFolder(), '.cache')
}

/**
 * Returns the home folder. Without one, as with a user that the system does not know, there is no
 * folder in which others cannot place models: the temporary folder belongs to everybody.
 */
function homeFolder(): string {
  try {
    return homedir()
  } catch (cause) {
    const remedy = 'set STENO_MODELS_DIR, or HOME, to a folder of yours'
    throw new Error(`Cannot find a folder for the models: this user has no home; ${remedy}`, {
      cause,
    })
  }
}

function nameCommand(): string {
  if (!isPackage) return 'npx steno'
  return process.env.npm_command === 'exec' ? 'npx steno-server' : 'steno'
}
