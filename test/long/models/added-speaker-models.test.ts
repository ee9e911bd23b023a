/**
 * Jobs on a server to which models for speakers were added; the models are stand-ins of our own.
 */
import assert from 'node:assert/strict'
import { appendFileSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSpeechEngine } from '../../../src/asr/create-speech-engine.ts'
import { installSpeakerModel } from '../../../src/asr/model-files/install-speaker-model.ts'
import { readConfig } from '../../../src/config/config.ts'
import { readSpeakerModel, type SpeakerModelKind } from '../../../src/models/speaker-models.ts'
import { createLog } from '../../../src/observability/log.ts'
import {
  writeBandEnergyModel,
  writePitchModel,
} from '../../support/asr/models/stand-in-speaker-models.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

type Utterance = { text: string; speaker?: number }
type Result = {
  transcription: { full_transcript: string; utterances: Utterance[] }
  diarization?: { success: boolean; results: unknown[]; error: { message: string } }
}

async function makeModels(t: TestContext): Promise<string> {
  const folder = await makeFolder(t)
  const bundled = readConfig({}).models.folder
  for (const name of ['moonshine-base', 'silero-vad.onnx']) {
    symlinkSync(join(bundled, name), join(folder, name))
  }
  return folder
}

async function add(folder: string, kind: SpeakerModelKind, write: (file: string) => void) {
  const source = join(folder, 'source.onnx')
  write(source)
  const { signal } = new AbortController()
  await installSpeakerModel(folder, { kind, source, name: 'mine', signal })
}

/** The result of a job with diarization, on a server with these models. */
async function diarized(t: TestContext, folder: string): Promise<Result> {
  const speech = createSpeechEngine({ folder, workers: 1, log: createLog('silent') })
  const server = await startServer({ speech })
  t.after(() => server.close())
  const recording = await readFile(new URL('../../fixtures/two-voices.wav', import.meta.url))
  const json = { audio_url: await upload(server, recording), diarization: true }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  const job = await call<{ status: string; result: Result }>(server, `/v2/pre-recorded/${body.id}`)
  assert.equal(job.body.status, 'done')
  return job.body.result
}

test('a job with added segmentation and embedding models has speakers', async (t) => {
  const folder = await makeModels(t)
  await add(folder, 'speaker-segmentation', writePitchModel)
  await add(folder, 'speaker-embedding', writeBandEnergyModel)
  const { transcription, diarization } = await diarized(t, folder)
  assert.equal(diarization, undefined)
  assert.ok(transcription.utterances.length > 0)
  assert.ok(transcription.utterances.every(({ speaker }) => Number.isInteger(speaker)))
})

test('a damaged speaker model fails only diarization, with an error that names it', async (t) => {
  const folder = await makeModels(t)
  await add(folder, 'speaker-embedding', writeBandEnergyModel)
  appendFileSync(readSpeakerModel(folder, 'speaker-embedding')!.path, 'x')
  const { transcription, diarization } = await diarized(t, folder)
  assert.ok(transcription.full_transcript.length > 20)
  assert.ok(transcription.utterances.every((utterance) => !('speaker' in utterance)))
  const { success, results, error } = diarization!
  assert.deepEqual([success, results], [false, []])
  assert.match(error.message, /'mine' is damaged; see 'steno models'/)
})
