import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import '../../onnx/no-telemetry.ts'
import { closeSync, existsSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { mkdir, readdir, rename, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import ort from 'onnxruntime-node'
import { withModelLock } from '../../../models/install/lock.ts'
import { loadMoonshine } from '../../engines/moonshine/decoding/decoder.ts'
import { type MoonshineModel, moonshineModels } from '../../engines/moonshine/dimensions.ts'
import {
  type OnnxExternalTensor,
  type OnnxTensor,
  readModel,
  type WritableModel,
  writeModel,
} from '../../onnx/onnx.ts'
import {
  isPrepackedName,
  isSameSource,
  prepackedGraphs,
  prepackedName,
  prepackedRoot,
  recordPrepacked,
} from './prepacked-models.ts'
import { multipliesSignedExactly, withSignedWeights } from './signed-weights.ts'

/** With less free space than this, in bytes, models are not prepacked. */
const MIN_FREE_BYTES = 1024 ** 3
/** Smaller constants, in bytes, stay in the graph. */
const MIN_EXTERNAL_BYTES = 1024
/** Pages of a mapped file; the kernels need 64 bytes at most. */
const ALIGNMENT = 4096
const WORK_PREFIX = '.work-'
/** How long another process may take to write the models, in milliseconds. */
const LOCK_TIMEOUT_MS = 600_000

/**
 * Writes the bundled models with their weights packed for this processor, as ONNX Runtime otherwise
 * packs them at each load, and signed if it multiplies signed weights exactly. The weights are in a
 * file beside each graph that all recognition processes map. Does nothing on platforms without
 * prepacking, when the models exist, or with little free space. While another process writes them,
 * it waits, and writes them itself if that process is killed. Rejects when the folder cannot be
 * written, or when the output of the packed models differs.
 */
export async function prepackModels(modelsFolder: string): Promise<void> {
  const name = prepackedName(modelsFolder)
  const root = prepackedRoot(modelsFolder)
  if (name === undefined || existsSync(join(root, name))) return
  const lock = { id: 'prepack', signal: AbortSignal.timeout(LOCK_TIMEOUT_MS) }
  await withModelLock(root, lock, () => prepackLocked(root, name, modelsFolder))
}

async function prepackLocked(root: string, name: string, modelsFolder: string): Promise<void> {
  await removeOutdated(root, name)
  const { bavail, bsize } = await statfs(root)
  if (existsSync(join(root, name)) || bavail * bsize < MIN_FREE_BYTES) return
  const work = join(root, `${WORK_PREFIX}${name}`)
  await mkdir(work)
  try {
    await prepackInto(work, modelsFolder)
    await recordPrepacked(work)
    await rename(work, join(root, name))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Removes the folders of other models or versions, and those of killed processes: the caller has
 * the lock. Other folders stay, such as those of a file system that begins here.
 */
async function removeOutdated(root: string, name: string): Promise<void> {
  for (const folder of await readdir(root)) {
    const isOutdated = isPrepackedName(folder) && !isSameSource(folder, name)
    if (isOutdated || folder.startsWith(WORK_PREFIX))
      await rm(join(root, folder), { recursive: true, force: true })
  }
}

async function prepackInto(folder: string, modelsFolder: string): Promise<void> {
  const isSigned = await multipliesSignedExactly(join(folder, 'product.onnx'))
  for (const graph of prepackedGraphs) {
    await mkdir(dirname(join(folder, graph)), { recursive: true })
    await prepackGraph(join(modelsFolder, `${graph}.onnx`), join(folder, graph), { isSigned })
  }
  for (const [size, dimensions] of Object.entries(moonshineModels)) {
    const model = `moonshine-${size}`
    await assertSameOutput(join(modelsFolder, model), join(folder, model), dimensions)
  }
}

/** Writes `to`.onnx and `to`.weights; `isSigned` makes the weights of bytes signed. */
async function prepackGraph(
  source: string,
  to: string,
  { isSigned }: { isSigned: boolean },
): Promise<void> {
  const [unaligned, signed] = [`${to}.unaligned`, `${to}.signed`]
  if (isSigned) writeModel(signed, withSignedWeights(readModel(source)))
  const session = await ort.InferenceSession.create(isSigned ? signed : source, {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
    graphOptimizationLevel: 'disabled',
    optimizedModelFilePath: `${to}.onnx`,
    extra: {
      session: {
        optimized_model_external_initializers_file_name: basename(unaligned),
        optimized_model_external_initializers_min_size_in_bytes: String(MIN_EXTERNAL_BYTES),
        save_external_prepacked_constant_initializers: '1',
      },
    },
  })
  await session.release()
  alignWeights(to, unaligned)
  await rm(unaligned)
  if (isSigned) await rm(signed)
}

/**
 * Copies all weights to the next page. ONNX Runtime writes packed weights one after the other, but
 * some kernels, such as those of MatMulNBits, expect their buffers at multiples of 64 bytes in
 * memory: at other addresses they read wrong values, without an error.
 */
function alignWeights(to: string, unaligned: string): void {
  const model = readModel(`${to}.onnx`) as WritableModel
  const from = openSync(unaligned, 'r')
  const file = openSync(`${to}.weights`, 'wx')
  let end = 0
  const copy = (offset: number, length: number): number => {
    const bytes = Buffer.alloc(length)
    readSync(from, bytes, 0, length, offset)
    const start = Math.ceil(end / ALIGNMENT) * ALIGNMENT
    if (writeSync(file, bytes, 0, length, start) < length) throw new Error('the disk is full')
    end = start + length
    return start
  }
  const initializer = model.graph.initializer.map((tensor) => {
    if (!isExternal(tensor)) return tensor
    return { ...tensor, external_data: moveWeights(tensor, `${basename(to)}.weights`, copy) }
  })
  fdatasyncSync(file)
  closeSync(file)
  closeSync(from)
  writeModel(`${to}.onnx`, { ...model, graph: { ...model.graph, initializer } })
}

/** Moves the bytes of a constant and its packed forms, `KEY|OFFSET;LENGTH;CHECKSUM|…` each. */
function moveWeights(
  { external_data }: OnnxExternalTensor,
  location: string,
  copy: (offset: number, length: number) => number,
): OnnxExternalTensor['external_data'] {
  const find = (key: string) => Number(external_data.find((entry) => entry.key === key)!.value)
  return external_data.map(({ key, value }) => {
    if (key === 'location') return { key, value: location }
    if (key === 'offset') return { key, value: String(copy(find('offset'), find('length'))) }
    if (!key.startsWith('prepacked')) return { key, value }
    const [kernel, ...buffers] = value.split('|')
    const moved = buffers.map((buffer) => {
      const [offset, length, checksum] = buffer.split(';')
      return [copy(Number(offset), Number(length)), length, checksum].join(';')
    })
    return { key, value: [kernel, ...moved].join('|') }
  })
}

function isExternal(tensor: OnnxTensor | OnnxExternalTensor): tensor is OnnxExternalTensor {
  return 'data_location' in tensor && tensor.data_location === 1
}

const TRIED_SECONDS = 2
const TRIED_TOKENS = 12

/** Runs two models on the same audio; throws unless all numbers are equal to the last bit. */
export async function assertSameOutput(
  folder: string,
  otherFolder: string,
  dimensions: MoonshineModel,
): Promise<void> {
  const outputs: string[] = []
  for (const modelFolder of [folder, otherFolder])
    outputs.push(await tryModel(modelFolder, dimensions))
  if (outputs[0] !== outputs[1])
    throw new Error(`${otherFolder} computes other values than ${folder}`)
}

async function tryModel(folder: string, dimensions: MoonshineModel): Promise<string> {
  const model = await loadMoonshine(folder, dimensions)
  const audio = Float32Array.from({ length: TRIED_SECONDS * SAMPLE_RATE }, (_, i) => {
    return 0.3 * Math.sin(i * i * 1e-4) * Math.sin(i / 2000)
  })
  const states = await model.encode(audio, { isNoisy: false })
  const inNoise = await model.encode(audio, { isNoisy: true })
  const bounds = { minTokens: TRIED_TOKENS, maxTokens: TRIED_TOKENS }
  const piece = { states, bounds, draft: [] }
  const decodings = await model.decode([piece, piece], new AbortController().signal)
  await model.close()
  return JSON.stringify({ states: [...states], inNoise: [...inNoise], decodings })
}
