import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import llamaTokenizer from 'llama-tokenizer-js'
import {
  type ModelPackage,
  moonshinePackage,
  vadPackage,
} from '../../../src/asr/model-files/bundled-packages.ts'
import { readModel, writeModel } from '../../../src/asr/onnx/onnx.ts'

/** A program to compare with, and the arguments of its process before the part and the files. */
export type Peer = { id: string; args: string[] }

const TRANSFORMERS = '@huggingface/transformers@4.3.1'
const VOCABULARY = 32_768

/** The published configuration of Moonshine base, which transformers.js reads. */
const configuration = {
  'config.json': {
    model_type: 'moonshine',
    architectures: ['MoonshineForConditionalGeneration'],
    hidden_size: 416,
    intermediate_size: 1664,
    vocab_size: VOCABULARY,
    encoder_num_hidden_layers: 8,
    encoder_num_attention_heads: 8,
    encoder_num_key_value_heads: 8,
    decoder_num_key_value_heads: 8,
    decoder_num_hidden_layers: 8,
    decoder_num_attention_heads: 8,
    bos_token_id: 1,
    eos_token_id: 2,
    decoder_start_token_id: 1,
    pad_token_id: 2,
    is_encoder_decoder: true,
  },
  'generation_config.json': {
    bos_token_id: 1,
    eos_token_id: 2,
    decoder_start_token_id: 1,
    pad_token_id: 2,
    max_length: 194,
  },
}

/** Fetches weights and programs into `folder`. */
export async function preparePeers(folder: string): Promise<Peer[]> {
  const weights = await fetchWeights(folder)
  const tokens = await writeTokens(folder)
  const voiceDetector = await writeVoiceDetector(folder)
  return [
    {
      id: 'sherpa-onnx',
      args: [
        fileURLToPath(new URL('sherpa.ts', import.meta.url)),
        voiceDetector,
        tokens,
        join(weights, 'encoder_model.onnx'),
        join(weights, 'decoder_model_merged.onnx'),
      ],
    },
    {
      id: 'transformers.js',
      args: [
        fileURLToPath(new URL('transformers.ts', import.meta.url)),
        voiceDetector,
        tokens,
        await installTransformers(folder),
        await writeModelFolder(folder, weights),
      ],
    },
  ]
}

const run = promisify(execFile)
const shell = process.platform === 'win32'

async function fetchWeights(folder: string): Promise<string> {
  const content = await fetchPackage(moonshinePackage, join(folder, 'weights'))
  return join(content, 'dist/model/base/quantized')
}

/** Fetches a package into the new folder `to`, and returns the folder of its content. */
async function fetchPackage({ name, version }: ModelPackage, to: string): Promise<string> {
  await mkdir(to)
  const packed = await run('npm', ['pack', `${name}@${version}`], { cwd: to, shell })
  await run('tar', ['xzf', packed.stdout.trim().split('\n').at(-1)!], { cwd: to })
  return join(to, 'package')
}

async function installTransformers(folder: string): Promise<string> {
  const to = join(folder, 'transformers')
  await mkdir(to)
  await writeFile(join(to, 'package.json'), '{"private":true,"type":"module"}')
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', to]
  await run('npm', ['install', ...flags, TRANSFORMERS], { shell })
  return join(to, 'node_modules/@huggingface/transformers/dist/transformers.node.mjs')
}

async function writeModelFolder(folder: string, weights: string): Promise<string> {
  const to = join(folder, 'moonshine-base')
  await mkdir(join(to, 'onnx'), { recursive: true })
  for (const part of ['encoder_model', 'decoder_model_merged']) {
    await cp(join(weights, `${part}.onnx`), join(to, 'onnx', `${part}_quantized.onnx`))
  }
  for (const [file, content] of Object.entries(configuration)) {
    await writeFile(join(to, file), JSON.stringify(content))
  }
  return to
}

/** Writes the VAD model with its inputs in the order that sherpa-onnx expects. */
async function writeVoiceDetector(folder: string): Promise<string> {
  const content = await fetchPackage(vadPackage, join(folder, 'silero'))
  const file = join(folder, 'silero-vad.onnx')
  const model = readModel(join(content, 'weights/silero_vad_op18_ifless.onnx'))
  const order = ['input', 'state', 'sr']
  model.graph.input.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
  writeModel(file, model)
  return file
}

/** Writes one line per token, its text in base64 and its number, as sherpa-onnx reads it. */
async function writeTokens(folder: string): Promise<string> {
  const file = join(folder, 'tokens.txt')
  const lines = Array.from({ length: VOCABULARY }, (_, id) => {
    const piece = llamaTokenizer.vocabById[id] ?? `<${id}>`
    return `${Buffer.from(piece.replaceAll('\u2581', ' ')).toString('base64')} ${id}\n`
  })
  await writeFile(file, lines.join(''))
  return file
}
