/** Installed models in the worker processes of a real engine; the models are stubs of our own. */

import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  writeBandContrastModel,
  writeBandEnergyModel,
  writeBandLevelModel,
  writeMeanSquareModel,
  writePitchModel,
} from '../../../test/support/asr/models/stand-in-speaker-models.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { hashFile } from '../../models/files/hash-file.ts'
import { readSpeakerModel, type SpeakerModelKind } from '../../models/speaker-models.ts'
import { createLog } from '../../observability/log.ts'
import type { Transcript, Word } from '../../transcript/transcript.ts'
import { createSpeechEngine } from '../create-speech-engine.ts'
import { installSpeakerModel } from '../model-files/install-speaker-model.ts'
import type {
  CheckpointEmbeddings,
  PcmFile,
  SpeakerCounts,
  SpeechEngine,
} from '../speech-engine.ts'
import { readEmbeddings } from './embedding/embedding-files.ts'
import { chooseSpeakerModel } from './embedding/speaker-model.ts'

const { signal } = new AbortController()

/** A models folder in which stubs can be installed. */
async function makeModels(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-speakers-'))
  t.after(() => rm(folder, { recursive: true }))
  async function add(kind: SpeakerModelKind, write: (file: string) => void) {
    const source = join(folder, 'source.onnx')
    write(source)
    await installSpeakerModel(folder, { kind, source, name: 'mine', signal })
  }
  return { folder, add }
}

function startEngine(t: TestContext, folder: string): SpeechEngine {
  const entry = new URL('../../../test/support/asr/workers/diarization-worker.ts', import.meta.url)
  const engine = createSpeechEngine({ folder, workers: 1, log: createLog('silent'), entry })
  t.after(() => engine.close())
  return engine
}

/** Six turns of four seconds, alternately low and high; both rise and fall 7 times a second. */
function drawTalk(): Int16Array {
  const samples = new Int16Array(24 * SAMPLE_RATE)
  for (let i = 0; i < samples.length; i++) {
    const t = i / SAMPLE_RATE
    const isLow = Math.floor(t / 4) % 2 === 0
    const rise = t % 4 < 3.6 ? 0.5 + 0.5 * Math.sin(2 * Math.PI * 7 * t) : 0
    const floor = Math.sin(i * i * 0.01) * 0.01
    samples[i] = 32_767 * (0.5 * rise * Math.sin(2 * Math.PI * (isLow ? 300 : 3000) * t) + floor)
  }
  return samples
}

const samples = drawTalk()

/** A recording of the talk, with a word every half second. */
async function makeTalk(folder: string): Promise<{ pcm: PcmFile; transcript: Transcript }> {
  const path = join(folder, 'talk.pcm')
  await writeFile(path, samples)
  const words = Array.from({ length: 42 }, (_, i): Word => {
    const start = Math.floor(i / 7) * 4 + (i % 7) * 0.5 + 0.1
    return { text: `w${i}`, start, end: start + 0.4, confidence: 1 }
  })
  const utterance = { channel: 0, language: 'en', words }
  return { pcm: { path, samples: samples.length }, transcript: { utterances: [utterance] } }
}

/** The speakers of the talk, as `0:w0…w6`, and the files written on the way. */
async function diarize(engine: SpeechEngine, folder: string, counts: SpeakerCounts = {}) {
  const { pcm, transcript } = await makeTalk(folder)
  const files: string[] = []
  const checkpointEmbeddings: CheckpointEmbeddings = async ({ part, model }, embed) => {
    const file = join(folder, `embeddings-${part}-${model}`)
    await embed(file)
    files[part] = file
    return file
  }
  const task = { transcript, channels: [{ ...pcm, channel: 0 }], counts, checkpointEmbeddings }
  const utterances = await engine.diarize(task, { signal })
  const turns = utterances.map(({ speaker, words }) => {
    return `${speaker}:${words[0]!.text}-${words.at(-1)!.text}`
  })
  return { turns, files, recognized: files.map(readEmbeddings) }
}

const byTurns = ['0:w0-w6', '1:w7-w13', '0:w14-w20', '1:w21-w27', '0:w28-w34', '1:w35-w41']

test('an added speaker-embedding replaces the built-in model', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-embedding', writeBandContrastModel)
  const engine = startEngine(t, folder)
  const { turns, files, recognized } = await diarize(engine, folder, { exact: 2 })
  assert.deepEqual(turns, byTurns)
  const [first] = recognized
  assert.ok(first && 'windows' in first && first.windows.length > 20)
  assert.equal(first.windows[0]!.embedding.length, 80)
  const { sha256 } = readSpeakerModel(folder, 'speaker-embedding')!
  assert.equal(first.model, sha256.slice(0, 16))
  assert.ok(files[0]!.endsWith(first.model))
})

test('added segmentation and embedding models find the turns of a recording', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-segmentation', writePitchModel)
  assert.equal(chooseSpeakerModel(folder).kind, 'built-in')
  await add('speaker-embedding', writeBandEnergyModel)
  const engine = startEngine(t, folder)
  const { turns, recognized } = await diarize(engine, folder)
  assert.deepEqual(turns, byTurns)
  assert.equal(recognized.length, 1)
  assert.ok(recognized[0] && 'turns' in recognized[0])
  assert.deepEqual(
    await countsAt(engine, folder, [{ max: 5 }, { max: 1 }, { exact: 1 }]),
    [2, 1, 1],
  )
})

test('a pipeline that finds too few speakers is asked for more', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-segmentation', writePitchModel)
  await add('speaker-embedding', writeBandLevelModel)
  const engine = startEngine(t, folder)
  assert.deepEqual(await countsAt(engine, folder, [{}, { min: 2 }, { exact: 2 }]), [1, 2, 2])
})

/** How many speakers a pipeline finds in the talk for each of these counts. */
async function countsAt(engine: SpeechEngine, folder: string, requested: readonly SpeakerCounts[]) {
  const found: number[] = []
  for (const counts of requested) {
    const [first] = (await diarize(engine, folder, counts)).recognized
    assert.ok(first && 'turns' in first)
    found.push(new Set(first.turns.map(({ speaker }) => speaker)).size)
  }
  return found
}

test('a damaged or missing model fails its task by name, and the worker continues', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-embedding', writeMeanSquareModel)
  const engine = startEngine(t, folder)
  const { path } = readSpeakerModel(folder, 'speaker-embedding')!
  appendFileSync(path, 'x')
  const message = /^Cannot use the added speaker model: 'mine' is damaged; see 'steno models'/
  await assert.rejects(diarize(engine, folder), { code: 'speaker_model_unusable', message })
  await rm(path)
  const gone = /'mine' is missing since the server was started; see 'steno models' and start/
  await assert.rejects(diarize(engine, folder), { code: 'speaker_model_unusable', message: gone })
  await engine.checkReady({ signal })
})

test('models that crash their process fail only the tasks that need them', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-embedding', (file) => writeMeanSquareModel(file))
  const embedding = readSpeakerModel(folder, 'speaker-embedding')!
  const record = { ...embedding, file: basename(embedding.path) }
  const to = join(folder, 'added', 'speaker-segmentation.json')
  await writeFile(to, JSON.stringify(record))
  const engine = startEngine(t, folder)
  await assert.rejects(diarize(engine, folder), {
    code: 'speaker_model_unusable',
    message: /its process ended twice over the recording; 'steno doctor' tries it$/,
  })
  await engine.checkReady({ signal })
})

test('a model that cannot be loaded is named without a local path', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-embedding', writeMeanSquareModel)
  const { path, ...record } = readSpeakerModel(folder, 'speaker-embedding')!
  await writeFile(path, 'no model')
  const changed = { ...record, file: basename(path), sha256: await hashFile(path) }
  await writeFile(join(folder, 'added', 'speaker-embedding.json'), JSON.stringify(changed))
  const message =
    "Cannot use the added speaker model: 'mine' cannot be loaded; 'steno doctor' says why"
  await assert.rejects(diarize(startEngine(t, folder), folder), { message })
})

test('an unreadable record fails diarization with the command that repairs it', async (t) => {
  const { folder, add } = await makeModels(t)
  await add('speaker-embedding', writeMeanSquareModel)
  await writeFile(join(folder, 'added', 'speaker-embedding.json'), '{')
  const engine = startEngine(t, folder)
  await assert.rejects(diarize(engine, folder), {
    code: 'speaker_model_unusable',
    message: /remove it with 'steno models remove speaker-embedding' and add it again$/,
  })
})
