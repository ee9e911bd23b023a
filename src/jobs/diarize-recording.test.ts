import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createFakeSpeechEngine } from '../asr/engines/fake.ts'
import type { SpeakerTask, SpeechEngine } from '../asr/speech-engine.ts'
import { AppError } from '../errors.ts'
import type { Transcript } from '../transcript/transcript.ts'
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
    stages: {
      async embedSpeakers({ channel, part, model }, work) {
        const file = `v${channel}-${part}-${model}`
        await work(file)
        return file
      },
    },
    params: {},
    log: pino({ enabled: false }),
    signal: new AbortController().signal,
    ...options,
  })
}

test('each utterance gets its speaker, and how sure that is only where asked for', async () => {
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

test('counts and the files of each channel reach the engine', async () => {
  const tasks: SpeakerTask[] = []
  const findSpeakers: SpeechEngine['findSpeakers'] = async (task) => {
    tasks.push(task)
    return []
  }
  const counts = { number_of_speakers: 3, min_speakers: 0, max_speakers: 4 }
  await diarized({ findSpeakers }, { params: { diarization_config: counts } })
  assert.deepEqual(tasks[0]?.counts, { exact: 3, max: 4 })
  assert.deepEqual(tasks[0]?.embeddings, [
    { channel: 0, files: ['v0-0-fake'] },
    { channel: 1, files: ['v1-0-fake'] },
  ])
})

test('a failure tells how long it was tried', async () => {
  const clock = [1000, 3500]
  const findSpeakers = async () => {
    throw new Error('oops')
  }
  const { diarizationSeconds } = await diarized({ findSpeakers }, { now: () => clock.shift()! })
  assert.equal(diarizationSeconds, 2.5)
  assert.ok(!('diarizationSeconds' in (await diarized())))
})

test('progress ends with the last part that was heard', async () => {
  const fractions: number[] = []
  await diarized({}, { onProgress: (fraction) => void fractions.push(fraction) })
  assert.deepEqual(fractions, [0.5, 1])
})

test('a worker that crashes once costs nothing, one that crashes again the speakers', async () => {
  let crashes = 0
  const crash = (times: number) => async () => {
    if (crashes++ < times) throw new AppError('engine_failed')
  }
  assert.equal((await diarized({ embedSpeakers: crash(1) })).diarizationError, undefined)
  crashes = 0
  const { transcript: same, diarizationError } = await diarized({ embedSpeakers: crash(9) })
  assert.equal(same, transcript)
  assert.deepEqual(diarizationError, {
    status_code: 500,
    exception: 'AddonFailed',
    message: 'diarization broke down',
  })
})

test('a model that was added and cannot be used is named in the error', async () => {
  const embedSpeakers = async () => {
    throw new AppError('speaker_model_unusable', "'mine' is damaged")
  }
  const { transcript: same, diarizationError } = await diarized({ embedSpeakers })
  assert.equal(same, transcript)
  assert.equal(diarizationError?.message, "Cannot use the added speaker model: 'mine' is damaged")
})

test('counts reach the model that hears when there is one channel alone', async () => {
  const recognized: unknown[] = []
  const embedSpeakers: SpeechEngine['embedSpeakers'] = async (_pcm, _regions, { counts }) => {
    recognized.push(counts)
  }
  const params = { diarization_config: { number_of_speakers: 3 } }
  await diarized({ embedSpeakers }, { params })
  await diarized({ embedSpeakers }, { params, channels: channels.slice(0, 1) })
  assert.deepEqual(recognized, [undefined, undefined, { exact: 3 }])
})

test('what ends the attempt is not taken for a failed add-on', async () => {
  for (const code of ['server_stopping', 'engine_unavailable', 'storage_full'] as const) {
    const embedSpeakers = async () => {
      throw new AppError(code)
    }
    await assert.rejects(diarized({ embedSpeakers }), { code })
  }
  const controller = new AbortController()
  const findSpeakers: SpeechEngine['findSpeakers'] = async () => {
    controller.abort(new AppError('job_timeout'))
    throw new Error('stopped')
  }
  const aborted = diarized({ findSpeakers }, { signal: controller.signal })
  await assert.rejects(aborted, { code: 'job_timeout' })
})
