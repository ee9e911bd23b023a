import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import type { DiarizationTask, SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { type DiarizeOptions, diarizeRecording } from './diarize-recording.ts'

const word = { text: 'hi', start: 0, end: 0.5, confidence: 1 }
const transcript: Transcript = {
  utterances: [0, 1].map((channel) => ({ channel, language: 'en', words: [word] })),
}
const channels = [0, 1].map((channel) => {
  return { channel, path: `c${channel}`, samples: 16_000, sameAs: null }
})

function diarized(engine: Partial<SpeechEngine> = {}, options: Partial<DiarizeOptions> = {}) {
  return diarizeRecording(transcript, {
    speech: { ...createFakeSpeechEngine('hi'), ...engine },
    channels,
    checkpoints: {
      async checkpointEmbeddings({ channel, part, model }, embed) {
        const file = `v${channel}-${part}-${model}`
        await embed(file)
        return file
      },
    },
    params: {},
    log: pino({ enabled: false }),
    signal: new AbortController().signal,
    ...options,
  })
}

test('each utterance gets a speaker, with confidence only if requested', async () => {
  const { transcript: plain, diarizationError } = await diarized()
  assert.equal(diarizationError, undefined)
  assert.deepEqual(
    plain.utterances.map(({ speaker }) => speaker),
    [0, 1],
  )
  assert.ok(plain.utterances.every((utterance) => !('speakerConfidence' in utterance)))
  const params = { diarization_config: { speaker_confidence: true } }
  const { transcript: sure } = await diarized({}, { params })
  assert.equal(sure.utterances[0]?.speakerConfidence, 0.8)
})

test('counts, channels and checkpoints are passed to the engine', async () => {
  const tasks: DiarizationTask[] = []
  const diarize: SpeechEngine['diarize'] = async (task) => {
    tasks.push(task)
    return []
  }
  const counts = { number_of_speakers: 3, min_speakers: 0, max_speakers: 4 }
  await diarized({ diarize }, { params: { diarization_config: counts } })
  const [task] = tasks
  assert.deepEqual([task?.counts, task?.channels], [{ exact: 3, max: 4 }, channels])
  const part = { channel: 1, part: 2, model: 'm' }
  assert.equal(await task?.checkpointEmbeddings(part, async () => {}), 'v1-2-m')
})

test('a failed diarization reports its duration', async () => {
  const clock = [1000, 3500]
  const diarize = async () => {
    throw new Error('oops')
  }
  const { diarizationSeconds } = await diarized({ diarize }, { now: () => clock.shift()! })
  assert.equal(diarizationSeconds, 2.5)
  assert.ok(!('diarizationSeconds' in (await diarized())))
})

test('diarization reports the progress of the engine', async () => {
  const fractions: number[] = []
  await diarized({}, { onProgress: (fraction) => void fractions.push(fraction) })
  assert.deepEqual(fractions, [0.5, 1])
})

test('a failed diarization leaves the transcript without speakers', async () => {
  const diarize = async () => {
    throw new AppError('engine_failed')
  }
  const { transcript: same, diarizationError } = await diarized({ diarize })
  assert.equal(same, transcript)
  assert.deepEqual(diarizationError, {
    status_code: 500,
    exception: 'AddonFailed',
    message: 'diarization crashed',
  })
})

test('an unusable added model is named in the diarization error', async () => {
  const diarize = async () => {
    throw new AppError('speaker_model_unusable', "'mine' is damaged")
  }
  const { transcript: same, diarizationError } = await diarized({ diarize })
  assert.equal(same, transcript)
  assert.equal(diarizationError?.message, "Cannot use the added speaker model: 'mine' is damaged")
})

test('errors that end the attempt are not reported as a failed add-on', async () => {
  for (const code of ['server_stopping', 'engine_unavailable', 'storage_full'] as const) {
    const diarize = async () => {
      throw new AppError(code)
    }
    await assert.rejects(diarized({ diarize }), { code })
  }
  const controller = new AbortController()
  const diarize: SpeechEngine['diarize'] = async () => {
    controller.abort(new AppError('job_timeout'))
    throw new Error('stopped')
  }
  const aborted = diarized({ diarize }, { signal: controller.signal })
  await assert.rejects(aborted, { code: 'job_timeout' })
})
