/** Speech engines with installed models of several languages, whose speech is tones. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createSpeechEngine } from '../../../src/asr/create-speech-engine.ts'
import type { SpeechEngineOptions } from '../../../src/asr/model-selection/engine-options.ts'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { wavHeader } from '../../../src/audio/containers/wav-header.ts'
import { createLog } from '../../../src/observability/log.ts'
import { bundledTones, describeTones, type Spoken, synthesizeSpeech } from './tones.ts'

/** A model to install; `memoryBytes` also orders models: the larger, the better and slower. */
export type TestModel = {
  id: string
  languages: readonly string[]
  /** `whisper` also identifies languages. */
  engine?: 'whisper' | 'parakeet'
  memoryBytes?: number
}

/** Installs a model in a folder of models. */
export async function installTones(models: string, model: TestModel): Promise<void> {
  const { id, languages, engine = 'whisper', memoryBytes = 100 } = model
  const folder = join(models, 'store', id)
  await mkdir(folder, { recursive: true })
  const record = {
    id,
    languages,
    engine,
    memoryBytes,
    kind: 'recognition',
    license: 'MIT',
    revision: 'r1',
    files: {},
  }
  await writeFile(join(folder, 'model.json'), JSON.stringify(record))
}

/** Removes an installed model. */
export async function removeTones(models: string, id: string): Promise<void> {
  await rm(join(models, 'store', id), { recursive: true })
}

/** Creates an engine with the bundled English model and some installed ones. */
export async function createTonesEngine(
  t: Pick<TestContext, 'after'>,
  models: readonly TestModel[],
  options: Partial<SpeechEngineOptions> = {},
): Promise<{ folder: string; speech: SpeechEngine }> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-models-'))
  for (const model of models) await installTones(folder, model)
  const bundled = describeTones(bundledTones)
  const speech = createSpeechEngine({
    folder,
    workers: 1,
    log: createLog('silent'),
    describe: describeTones,
    recognizers: { finals: [bundled], partials: [bundled] },
    entry: new URL('./workers/tones-worker.ts', import.meta.url),
    ...options,
  })
  t.after(async () => {
    await speech.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { folder, speech }
}

/** Returns a recording of tones, one channel as a WAV file. */
export function speakWav(spans: readonly Spoken[]): Uint8Array<ArrayBuffer> {
  const samples = synthesizeSpeech(spans)
  const header = wavHeader({ encoding: 's16', sampleRate: 16_000, channels: 1 }, samples.byteLength)
  return new Uint8Array(Buffer.concat([header, samples]))
}
