import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isPackage } from '../../config/installation.ts'
import { bundledModels, moonshinePackage, vadPackage } from './bundled-packages.ts'
import { findPrepackedDamage } from './prepacked/prepacked-models.ts'

/** The installed state: the recipe that produced it, and size and SHA-256 of each file. */
export type InstallRecord = {
  recipe: string
  files: Record<string, { bytes: number; sha256: string }>
}

/** Returns true if `folder` holds all bundled models, made by the recipe of this version. */
export async function isInstallCurrent(folder: string): Promise<boolean> {
  const [installed, recipe] = await Promise.all([readInstallRecord(folder), recipeId()])
  if (installed?.recipe !== recipe) return false
  return (await findDamage(folder, { hashes: false })).length === 0
}

/**
 * Returns the files that are missing or differ from what was installed; with `hashes` it reads
 * every byte, also of the prepacked models. An empty list means that the models are intact.
 */
export async function findDamage(
  folder: string,
  { hashes }: { hashes: boolean },
): Promise<string[]> {
  const record = await readInstallRecord(folder)
  if (!record) return ['embedded.json']
  const damaged: string[] = []
  for (const [file, { bytes, sha256 }] of Object.entries(record.files)) {
    const path = join(folder, file)
    const fileStat = await stat(path).catch(() => undefined)
    const isComplete =
      fileStat?.size === bytes &&
      (!hashes || hash('sha256', await readFile(path), 'hex') === sha256)
    if (!isComplete) damaged.push(file)
  }
  if (hashes) damaged.push(...(await findPrepackedDamage(folder)))
  return damaged
}

/** Reads what is installed in `folder`; undefined when nothing is. */
export async function readInstallRecord(folder: string): Promise<InstallRecord | undefined> {
  const { record } = bundledModels(folder)
  if (!existsSync(record)) return undefined
  try {
    return JSON.parse(await readFile(record, 'utf8')) as InstallRecord
  } catch {
    return undefined // Damaged by a crash: the files are installed again.
  }
}

/**
 * Returns a hash that changes when a source package or the code that edits the graphs changes. A
 * package holds the hash of the sources that it was built from: it and a checkout may share models.
 */
export async function recipeId(): Promise<string> {
  if (isPackage) return readFile(new URL('recipe.txt', import.meta.url), 'utf8')
  const files = [
    ...['install-bundled.ts', '../onnx/onnx.ts', '../onnx/onnx-graph.ts'],
    ...['graphs/published-decoder.ts', 'graphs/int8-matmul.ts', 'graphs/write-rotary.ts'],
    ...['graphs/write-moonshine-encoder.ts', 'graphs/write-moonshine-decoder.ts'],
    ...['graphs/write-vad.ts', '../engines/moonshine/encoder.ts'],
    ...['adaptation/adaptation.ts', '../engines/moonshine/dimensions.ts'],
    ...['adaptation/moonshine-base-noise.safetensors'],
    ...['weight-files/safetensors.ts', 'weight-files/half-floats.ts'],
  ]
  const texts = await Promise.all(
    files.map((file) => readFile(new URL(file, import.meta.url), 'latin1')),
  )
  const sources = [moonshinePackage.integrity, vadPackage.integrity, ...texts]
  return hash('sha256', Buffer.from(sources.join('\n')), 'hex')
}

/** Returns the hash of `content` in the given encoding. */
export function hash(algorithm: string, content: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(content).digest(encoding)
}
