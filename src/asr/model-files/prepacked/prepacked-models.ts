import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The graphs that are prepacked: paths inside the models folder, without their extension. */
export const prepackedGraphs = ['moonshine-base', 'moonshine-tiny'].flatMap((model) => {
  return ['encoder', 'cross', 'decoder'].map((graph) => `${model}/${graph}`)
})

/** Increment it when `prepackModels` writes other files from the same models. */
const FORMAT = 2

/** Returns the folder inside the models folder that holds the prepacked models of all machines. */
export function prepackedRoot(modelsFolder: string): string {
  return join(modelsFolder, 'prepacked')
}

/**
 * Returns the name of the folder in `prepackedRoot` for the installed models on this processor, or
 * undefined where models are not prepacked: the packed layout depends on the version of ONNX
 * Runtime and on the processor, which a sandbox may hide, and was checked on Linux on x64 only.
 */
export function prepackedName(
  modelsFolder: string,
  processorFile = '/proc/cpuinfo',
): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  if (!existsSync(processorFile)) return undefined
  const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as {
    version: string
  }
  const sources = prepackedGraphs.map((graph) => {
    const sourceStat = statSync(join(modelsFolder, `${graph}.onnx`), { throwIfNoEntry: false })
    return `${sourceStat?.size} ${sourceStat?.mtimeMs}`
  })
  return `${digest([`format ${FORMAT}`, version, ...sources])}-${digest(processorFeatures(processorFile))}`
}

/** Returns the folder with the prepacked models, laid out as the models folder, once it exists. */
export function findPrepacked(modelsFolder: string): string | undefined {
  const name = prepackedName(modelsFolder)
  if (name === undefined) return undefined
  const folder = join(prepackedRoot(modelsFolder), name)
  return existsSync(folder) ? folder : undefined
}

/** Whether a folder in `prepackedRoot` has such a name as `prepackedName` returns. */
export function isPrepackedName(name: string): boolean {
  return /^[0-9a-f]{12}-[0-9a-f]{12}$/.test(name)
}

/** Whether two folders in `prepackedRoot` hold the same models, for different processors. */
export function isSameSource(name: string, otherName: string): boolean {
  return name.split('-')[0] === otherName.split('-')[0]
}

/** The kernels, and so the layout of their weights, are chosen by these. */
function processorFeatures(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return ['model name', 'flags'].map((key) => lines.find((line) => line.startsWith(key)) ?? '')
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12)
}
