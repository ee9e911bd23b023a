/**
 * A process that runs one model with sherpa-onnx and nothing else: the library brings an ONNX
 * Runtime of its own, which must not meet another one, and it ends its process where a file is not
 * as it expects.
 */
import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import '../../onnx/no-telemetry.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OfflineRecognizer } from 'sherpa-onnx-node'
import { divisionOf } from './hotwords.ts'
import { readSherpaLayout, readTokenList, type SherpaLayout } from './layout.ts'
import { listedConfig, offlineConfig, onlineConfig } from './settings.ts'
import type {
  FromSherpa,
  SherpaSetup,
  SherpaTask,
  SherpaText,
  ToSherpa,
} from './sherpa-protocol.ts'
import { createStreams } from './streams.ts'

type Recognize = (task: SherpaTask) => Promise<Omit<SherpaText, 'cost'>>

async function load(setup: SherpaSetup): Promise<Recognize> {
  const { default: sherpa } = await import('sherpa-onnx-node').catch((cause) => {
    throw new Error(
      "the package sherpa-onnx-node does not load: 'npm install sherpa-onnx-node' in the project folder installs it",
      { cause },
    )
  })
  const layout = readSherpaLayout(setup.folder)
  if (layout.family === 'streaming-transducer') {
    return createStreams(new sherpa.OnlineRecognizer(onlineConfig(layout, setup)))
  }
  const config = offlineConfig(layout, setup)
  const recognizer = new sherpa.OfflineRecognizer(config)
  let beams: OfflineRecognizer | undefined
  return async (task) => {
    if (task.kind !== 'recognize') throw new TypeError('this model does not stream')
    const { samples, language, hotwords } = task
    if (layout.family === 'canary') {
      const canary = {
        ...(config.modelConfig.canary as object),
        srcLang: language,
        tgtLang: language,
      }
      recognizer.setConfig({ ...config, modelConfig: { ...config.modelConfig, canary } })
    }
    // Listed words need another search, and the library takes that for a recognizer as a whole.
    if (hotwords !== undefined) {
      beams ??= withDivision(layout, setup, (file) => {
        return new sherpa.OfflineRecognizer(listedConfig(config, file))
      })
    }
    const used = hotwords === undefined ? recognizer : beams!
    const stream = hotwords === undefined ? used.createStream() : used.createStream(hotwords)
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE })
    const { text, tokens, timestamps, durations, ys_log_probs, lang } =
      await used.decodeAsync(stream)
    return { text, tokens, times: timestamps, durations, logProbs: ys_log_probs, language: lang }
  }
}

/**
 * Calls `create` with the file for dividing words into pieces, written for it where there is none.
 */
function withDivision<T>(
  { bpeVocabulary, tokens }: SherpaLayout,
  { folder }: SherpaSetup,
  create: (file: string | undefined) => T,
): T {
  if (bpeVocabulary !== undefined) return create(join(folder, bpeVocabulary))
  const division = divisionOf(readTokenList(join(folder, tokens)))
  if (division === undefined) return create(undefined)
  const temporary = mkdtempSync(join(tmpdir(), 'steno-sherpa-'))
  try {
    const file = join(temporary, 'bpe.vocab')
    writeFileSync(file, division)
    return create(file)
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

async function respond(recognize: Recognize, { id, task }: ToSherpa): Promise<void> {
  const before = process.cpuUsage()
  try {
    const text = await recognize(task)
    const { user, system } = process.cpuUsage(before)
    send({ type: 'result', id, result: { ...text, cost: (user + system) / 1e6 } })
  } catch (error) {
    send({ type: 'error', id, problem: explainLoadError(error) })
  }
}

function send(message: FromSherpa): void {
  process.send?.(message)
}

function explainLoadError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// An ordinary exit would wait for the thread that recognizes.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
try {
  const recognize = await load(JSON.parse(process.argv[2] ?? '{}') as SherpaSetup)
  process.on('message', (message: ToSherpa) => void respond(recognize, message))
  send({ type: 'ready' })
} catch (error) {
  send({ type: 'broken', problem: explainLoadError(error) })
}
