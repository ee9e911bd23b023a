/**
 * Writes the files of the npm package that are not in the repository: `lib/`, the JavaScript of
 * `src/`. Node strips no types below `node_modules`, so a package cannot run TypeScript. npm runs
 * this before `npm pack` and `npm publish`.
 */
import { globSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { recipeId } from '../src/asr/model-files/bundled-record.ts'
import { SAMPLE } from '../src/cli/server/start-message.ts'

const root = join(import.meta.dirname, '..')

/** Files of `src/` that run nothing. */
const OMITTED = /\.test\.ts$|^src\/asr\/speakers\/embedding\/model\/README\.md$/

/** A relative path of a module: of an import, or of a file that a thread or process runs. */
const MODULE_PATH = /\b(from |import |import\(\s*|new URL\()('[\w./-]+)\.ts'/g

/** Writes the program as JavaScript into `folder`, which it empties first. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const files = globSync('src/**/*.*', { cwd: root }).filter((file) => !OMITTED.test(file))
  for (const file of files) await buildFile(file, join(folder, file.slice('src/'.length)))
  await copyFile(SAMPLE, join(folder, 'cli/server/sample.flac'))
  await writeFile(join(folder, 'asr/model-files/recipe.txt'), await recipeId())
}

async function buildFile(file: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  if (extname(file) !== '.ts') return copyFile(join(root, file), target)
  const code = toJavaScript(await readFile(join(root, file), 'utf8'))
  await writeFile(target.replace(/\.ts$/, '.js'), code)
}

/** Replaces types by spaces, as Node does: lines and columns of errors stay those of the source. */
function toJavaScript(code: string): string {
  return stripTypeScriptTypes(code).replace(MODULE_PATH, "$1$2.js'")
}

if (import.meta.main) await buildPackage(join(root, 'lib'))
