/**
 * One process of transformers.js with the weights of Moonshine base, one thread: prints a line of
 * text per file. Arguments: voice detector, tokens, module, model folder, part of each file, files.
 */
import { readFileSync } from 'node:fs'
import { readPieces } from './read-pieces.ts'

type Ids = { tolist(): bigint[][] }
type Model = { generate(input: Record<string, unknown>): Promise<Ids> }
type Transformers = {
  env: Record<string, unknown>
  Tensor: new (type: string, data: Float32Array, dims: number[]) => unknown
  MoonshineForConditionalGeneration: {
    from_pretrained(folder: string, options: Record<string, unknown>): Promise<Model>
  }
}

/**
 * Maximum tokens per second that the model was trained to write, and spare tokens for very short
 * words.
 */
const [TOKENS_PER_SECOND, SPARE_TOKENS] = [6.5, 3]

const [voiceDetector, tokenFile, module, folder, part, ...files] = process.argv.slice(2)
const { env, Tensor, MoonshineForConditionalGeneration } = (await import(module!)) as Transformers
Object.assign(env, { allowRemoteModels: false, localModelPath: '/' })
const tokens = readFileSync(tokenFile!, 'utf8').trimEnd().split('\n')
const model = await MoonshineForConditionalGeneration.from_pretrained(folder!, {
  dtype: 'q8',
  device: 'cpu',
  session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' },
})
for (const file of files) {
  const texts: string[] = []
  for (const samples of readPieces(file, part!, voiceDetector!)) {
    const [ids = []] = await model
      .generate({
        inputs: new Tensor('float32', samples, [1, samples.length]),
        max_new_tokens: Math.ceil((samples.length / 16_000) * TOKENS_PER_SECOND) + SPARE_TOKENS,
      })
      .then((output) => output.tolist())
    texts.push(ids.map(textOf).join('').trim())
  }
  console.log(texts.join(' '))
}

/** Returns the text of a token; empty for control tokens and bytes. */
function textOf(id: bigint): string {
  const [encoded = ''] = tokens[Number(id)]?.split(' ') ?? []
  const text = Buffer.from(encoded, 'base64').toString()
  return /^<.*>$/.test(text) ? '' : text
}
