import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../errors.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { DiarizationTask, EngineOptions, SpeakerTask } from '../speech-engine.ts'
import { diarizeChannels, type SpeakerWork } from './diarize-channels.ts'

type Embed = Parameters<SpeakerWork['embed']>[0]

const { signal } = new AbortController()

/** Words a and b on channel 0, c on channel 1. */
const transcript: Transcript = {
  utterances: [
    { channel: 0, language: 'en', words: [wordAt('a', 1), wordAt('b', 2)] },
    { channel: 1, language: 'en', words: [wordAt('c', 5)] },
  ],
}
const channels = [0, 1].map((channel) => ({ channel, path: `pcm-${channel}`, samples: 100 }))

function wordAt(text: string, start: number) {
  return { text, start, end: start + 0.5, confidence: 1 }
}

type Options = Partial<SpeakerWork> & { task?: Partial<DiarizationTask> } & Partial<EngineOptions>

/** Diarizes with a group of regions for each word; the files are kept under the parts' names. */
async function diarize({ task, onProgress, ...changed }: Options = {}) {
  const embedded: Embed[] = []
  const tasks: SpeakerTask[] = []
  const work: SpeakerWork = {
    workers: 2,
    model: 'm',
    plan: (words) => words.map(({ start }) => [{ start, end: start + 1 }]),
    embed: async (task) => void embedded.push(task),
    async findSpeakers(task) {
      tasks.push(task)
      return task.transcript.utterances.map((utterance) => ({
        ...utterance,
        speaker: 0,
        speakerConfidence: 1,
      }))
    },
    ...changed,
  }
  const utterances = await diarizeChannels(
    work,
    {
      transcript,
      channels,
      counts: {},
      async checkpointEmbeddings({ channel, part, model }, embed) {
        const file = `${channel}-${part}-${model}`
        await embed(file)
        return file
      },
      ...task,
    },
    onProgress ? { signal, onProgress } : { signal },
  )
  embedded.sort((a, b) => (a.to < b.to ? -1 : 1))
  return { embedded, tasks, utterances }
}

test('the speakers of each channel are embedded where its words are', async () => {
  const { embedded, tasks, utterances } = await diarize({ task: { counts: { max: 3 } } })
  assert.deepEqual(
    embedded.map(({ path, regions, to }) => [path, regions[0]!.start, to]),
    [
      ['pcm-0', 1, '0-0-m'],
      ['pcm-0', 2, '0-1-m'],
      ['pcm-1', 5, '1-0-m'],
    ],
  )
  const embeddings = [
    { channel: 0, files: ['0-0-m', '0-1-m'] },
    { channel: 1, files: ['1-0-m'] },
  ]
  assert.deepEqual(tasks, [{ transcript, embeddings, counts: { max: 3 } }])
  assert.equal(utterances.length, 2)
})

test('checkpointed embeddings are not computed again', async () => {
  const checkpointEmbeddings = async () => 'kept'
  const { embedded, tasks } = await diarize({ task: { checkpointEmbeddings } })
  assert.deepEqual(embedded, [])
  assert.deepEqual(tasks[0]!.embeddings[0], { channel: 0, files: ['kept', 'kept'] })
})

test('counts are passed to the speaker model only for a single channel', async () => {
  const counts = { exact: 3 }
  const two = await diarize({ task: { counts } })
  assert.deepEqual(two.embedded[0]!.counts, {})
  const one = await diarize({ task: { counts, channels: channels.slice(0, 1) } })
  assert.deepEqual(one.embedded[0]!.counts, counts)
})

test('progress reaches 1 with the last part', async () => {
  const fractions: number[] = []
  await diarize({ onProgress: (fraction) => void fractions.push(fraction) })
  assert.deepEqual(fractions, [1 / 3, 2 / 3, 1])
})

test('each step is retried once after a crashed process', async () => {
  for (const step of ['embed', 'findSpeakers'] as const) {
    for (const crashes of [1, 2]) {
      let left = crashes
      const dying = async () => {
        if (left-- > 0) throw new AppError('engine_failed')
        return []
      }
      const diarized = diarize({ workers: 0, [step]: dying })
      if (crashes === 1) await diarized
      else await assert.rejects(diarized, { code: 'engine_failed' })
    }
  }
})

test('after a failed part no other is started', async () => {
  let calls = 0
  const embed = async () => {
    calls++
    throw new TypeError('a mistake')
  }
  await assert.rejects(diarize({ workers: 0, embed }), /a mistake/)
  assert.equal(calls, 1)
})
