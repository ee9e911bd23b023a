/**
 * A process that runs one model with sherpa-onnx and nothing else: the library includes its own
 * ONNX Runtime, which must not share a process with another one, and it exits when a file is not
 * what it expects.
 */

import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { messageOf } from '../../../errors.ts'
import '../../onnx/no-telemetry.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OfflineRecognizer } from 'sherpa-onnx-node'
import { writeBpeVocabulary } from './hotwords.ts'
import { readSherpaLayout, readTokenList, type SherpaLayout } from './layout.ts'
import { hotwordsConfig, offlineConfig, onlineConfig } from './settings.ts'
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
  let hotwordsRecognizer: OfflineRecognizer | undefined
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
    // Hotwords need another decoding method, which the library sets per recognizer.
    if (hotwords !== undefined) {
      hotwordsRecognizer ??= withBpeVocabulary(layout, setup, (file) => {
        return new sherpa.OfflineRecognizer(hotwordsConfig(config, file))
      })
    }
    const used = hotwords === undefined ? recognizer : hotwordsRecognizer!
    const stream = hotwords === undefined ? used.createStream() : used.createStream(hotwords)
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE })
    const { text, tokens, timestamps, durations, ys_log_probs, lang } =
      await used.decodeAsync(stream)
    return { text, tokens, times: timestamps, durations, logProbs: ys_log_probs, language: lang }
  }
}

/** Calls `create` with the `bpe.vocab` of the model, or a temporary one if the model has none. */
function withBpeVocabulary<T>(
  { bpeVocabulary, tokens }: SherpaLayout,
  { folder }: SherpaSetup,
  create: (file: string | undefined) => T,
): T {
  if (bpeVocabulary !== undefined) return create(join(folder, bpeVocabulary))
  const written = writeBpeVocabulary(readTokenList(join(folder, tokens)))
  if (written === undefined) return create(undefined)
  const temporary = mkdtempSync(join(tmpdir(), 'steno-sherpa-'))
  try {
    const file = join(temporary, 'bpe.vocab')
    writeFileSync(file, written)
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
    send({ type: 'error', id, problem: messageOf(error) })
  }
}

function send(message: FromSherpa): void {
  process.send?.(message)
}

// An ordinary exit would wait for the thread that recognizes.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
try {
  const recognize = await load(JSON.parse(process.argv[2] ?? '{}') as SherpaSetup)
  process.on('message', (message: ToSherpa) => void respond(recognize, message))
  send({ type: 'ready' })
} catch (error) {
  send({ type: 'broken', problem: messageOf(error) })
}
