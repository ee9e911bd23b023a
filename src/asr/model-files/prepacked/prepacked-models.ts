import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { moonshineGraphs, moonshineModels } from '../../engines/moonshine/dimensions.ts'

/** The graphs that are prepacked: paths inside the models folder, without their extension. */
export const prepackedGraphs = Object.entries(moonshineModels).flatMap(([size, dimensions]) => {
  return moonshineGraphs(dimensions).map((graph) => `moonshine-${size}/${graph}`)
})

const prepackedFiles = prepackedGraphs.flatMap((graph) => [`${graph}.onnx`, `${graph}.weights`])

/** Increment it when `prepackModels` writes other files from the same models. */
const FORMAT = 3

/** Holds the SHA-256 of each prepacked file. */
const RECORD = 'record.json'

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

/** Records what was written into a folder of prepacked models. */
export async function recordPrepacked(folder: string): Promise<void> {
  const hashes = await Promise.all(
    prepackedFiles.map(async (file) => [file, await hashFile(join(folder, file))]),
  )
  await writeFile(join(folder, RECORD), JSON.stringify(Object.fromEntries(hashes)))
}

/**
 * Reads every byte of the prepacked models of this processor; returns the files that differ from
 * what was written, as paths inside the models folder.
 */
export async function findPrepackedDamage(modelsFolder: string): Promise<string[]> {
  const folder = findPrepacked(modelsFolder)
  if (!folder) return []
  const recorded = await readFile(join(folder, RECORD), 'utf8').then(JSON.parse, () => ({}))
  const damaged: string[] = []
  for (const file of prepackedFiles) {
    const path = join(folder, file)
    const found = await hashFile(path).catch(() => undefined)
    if (found === undefined || found !== recorded[file]) damaged.push(relative(modelsFolder, path))
  }
  return damaged
}

/** Removes damaged prepacked models; `prepackModels` writes them again. */
export async function removeDamagedPrepacked(modelsFolder: string): Promise<void> {
  const damaged = await findPrepackedDamage(modelsFolder)
  if (damaged.length > 0) await rm(findPrepacked(modelsFolder)!, { recursive: true, force: true })
}

async function hashFile(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
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
