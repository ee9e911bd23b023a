import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'
import { createLog } from '../../log.ts'
import type { DiarizationParams } from '../diarization-params.ts'
import { viewUtterance } from '../messages/utterance-view.ts'
import { Journal } from '../recovery/journal.ts'
import { type LogRecord, readRecord, writeRecord } from '../recovery/session-log.ts'
import { readUtterances } from '../result/session-utterances.ts'
import { diarizeSession } from './diarize-session.ts'

type Speech = Pick<SpeechEngine, 'workers' | 'planEmbeddings' | 'embedSpeakers' | 'findSpeakers'>
type Requested = DiarizationParams['realtime_processing']

type Options = Partial<Speech> & {
  requested?: Requested
  timeout?: number
  signal?: AbortSignal
  restoreSamples?: () => Promise<void>
}

const silent = createLog('silent')

function spokenText(text: string, { start, channel }: { start: number; channel: number }): string {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: start + i, end: start + i + 0.5, confidence: 0.5 }
  })
  const view = viewUtterance(words, { channel, language: 'en', span: { start, end: start } })
  const utterance = { channel, number: start, text: JSON.stringify(view) }
  return writeRecord({ kind: 'utterance', utterance })
}

/**
 * Diarizes a session of two channels in which a, b, c and d were recognized; each word gets a
 * speaker.
 */
async function diarize(t: TestContext, options: Options = {}) {
  const { requested = {}, timeout, restoreSamples, signal = new AbortController().signal } = options
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const channelPaths = [0, 1].map((channel) => join(folder, `channel-${channel}`))
  for (const [i, path] of channelPaths.entries()) await writeFile(path, Buffer.alloc(1000 + i))
  const lines = [
    spokenText('c', { start: 5, channel: 1 }),
    spokenText('a b', { start: 1, channel: 0 }),
    spokenText('d', { start: 9, channel: 0 }),
  ]
  async function* readLog() {
    yield lines
  }
  const recognized: { path: string; samples: number; at: number; to: string; counts: unknown }[] =
    []
  const tasks: Parameters<Speech['findSpeakers']>[0][] = []
  const speech: Speech = {
    workers: 2,
    // Two regions, from the words of the channel.
    planEmbeddings: (words) => words.slice(0, 2).map(({ start }) => [{ start, end: start + 1 }]),
    async embedSpeakers({ path, samples }, [region], { to, counts }) {
      recognized.push({ path, samples, at: region!.start, to, counts })
    },
    async findSpeakers(task) {
      tasks.push(task)
      return task.transcript.utterances.flatMap(({ words, ...own }) => {
        return words.map((word) => ({
          ...own,
          words: [word],
          speaker: words.indexOf(word),
          speakerConfidence: 0.12345,
        }))
      })
    },
    ...options,
  }
  const records: LogRecord[] = []
  const files = {
    write: async (_: unknown, noted: readonly string[]) => {
      lines.push(...noted)
      records.push(...noted.map(readRecord))
    },
    sync: async () => ({ audioBytes: 0, logBytes: 0 }),
  }
  const journal = new Journal({ files, log: silent, signal })
  await diarizeSession({
    speech,
    params: { realtime_processing: requested },
    channelPaths,
    readLog,
    restoreSamples,
    journal,
    duration: 10.03,
    ...(timeout !== undefined && { timeout }),
    log: silent,
    signal,
  })
  await journal.flushed()
  const last = records.at(-1)
  assert.ok(last?.kind === 'diarized')
  return {
    ...(await readUtterances(readLog)),
    diarized: last.diarized,
    records,
    recognized,
    tasks,
    folder,
  }
}

test('utterances are cut anew by who speaks, with words and blanks as they were told', async (t) => {
  const { spokenUtterances, diarized, tasks } = await diarize(t)
  assert.deepEqual(
    spokenUtterances.map(({ text, start, channel, speaker }) => [text, start, channel, speaker]),
    [
      ['a', 1, 0, 0],
      ['b', 2, 0, 1],
      ['c', 5, 1, 0],
      ['d', 9, 0, 0],
    ],
  )
  assert.deepEqual([diarized.count, diarized.error], [4, null])
  const view = JSON.parse(spokenUtterances[1]!.json)
  assert.deepEqual(view, {
    ...{ start: 2, end: 2.5, confidence: 0.5, channel: 0, speaker: 1, language: 'en', text: ' b' },
    words: [{ word: ' b', start: 2, end: 2.5, confidence: 0.5 }],
  })
  const { utterances } = tasks[0]!.transcript
  assert.deepEqual(
    utterances.flatMap(({ words }) => words.map(({ text }) => text)),
    ['a', 'b', 'c', 'd'],
  )
})

test('the voices of each channel are heard where its words are, into files beside its samples', async (t) => {
  const { recognized, tasks, folder } = await diarize(t, {
    requested: { diarization_config: { max_speakers: 3, min_speakers: 0 } },
  })
  recognized.sort((a, b) => a.at - b.at)
  assert.deepEqual(recognized, [
    {
      path: join(folder, 'channel-0'),
      samples: 500,
      at: 1,
      to: join(folder, 'channel-0.voices-0'),
      counts: {},
    },
    {
      path: join(folder, 'channel-0'),
      samples: 500,
      at: 2,
      to: join(folder, 'channel-0.voices-1'),
      counts: {},
    },
    {
      path: join(folder, 'channel-1'),
      samples: 500,
      at: 5,
      to: join(folder, 'channel-1.voices-0'),
      counts: {},
    },
  ])
  assert.deepEqual(tasks[0]!.counts, { max: 3 })
  assert.deepEqual(tasks[0]!.embeddings, [
    { channel: 0, files: [recognized[0]!.to, recognized[1]!.to] },
    { channel: 1, files: [recognized[2]!.to] },
  ])
})

test('how sure a speaker is is told where it was asked for', async (t) => {
  const { spokenUtterances } = await diarize(t, {
    requested: { diarization_config: { speaker_confidence: true } },
  })
  assert.equal(JSON.parse(spokenUtterances[0]!.json).speaker_confidence, 0.123)
})

test('samples that may have been lost are written again first', async (t) => {
  const order: string[] = []
  await diarize(t, {
    restoreSamples: async () => void order.push('restored'),
    embedSpeakers: async () => void order.push('heard'),
  })
  assert.equal(order[0], 'restored')
})

test('a process that is killed is asked once more, and a second time it is a failure', async (t) => {
  for (const kills of [1, 2]) {
    let left = kills
    const findSpeakers: Speech['findSpeakers'] = async () => {
      if (left-- > 0) throw new AppError('engine_failed')
      return []
    }
    const { diarized } = await diarize(t, { findSpeakers })
    assert.equal(diarized.error?.exception, kills === 1 ? undefined : 'AddonFailed')
  }
})

test('a model that was added and cannot be used is named', async (t) => {
  const embedSpeakers: Speech['embedSpeakers'] = async () => {
    throw new AppError('speaker_model_unusable', 'campplus')
  }
  const { diarized } = await diarize(t, { embedSpeakers })
  assert.equal(diarized.error?.exception, 'AddonFailed')
  assert.match(diarized.error.message, /campplus/)
})

test('when a part fails no other is begun, and what was told stays', async (t) => {
  let calls = 0
  const { spokenUtterances, diarized } = await diarize(t, {
    workers: 1,
    embedSpeakers: async () => {
      calls++
      throw new TypeError('a mistake')
    },
  })
  assert.equal(calls, 1)
  assert.equal(diarized.error?.exception, 'AddonFailed')
  assert.deepEqual(
    spokenUtterances.map(({ text }) => text),
    ['a b', 'c', 'd'],
  )
})

test('what takes too long is stopped and told of', async (t) => {
  const { diarized } = await diarize(t, {
    timeout: 0,
    findSpeakers: (_, { signal }) => {
      return new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
  })
  assert.equal(diarized.error?.exception, 'AddonTimeout')
})

test('a session that is left has nothing noted', async (t) => {
  const stop = new AbortController()
  const findSpeakers: Speech['findSpeakers'] = async () => {
    stop.abort(new Error('left'))
    throw new AppError('engine_unavailable')
  }
  await assert.rejects(diarize(t, { signal: stop.signal, findSpeakers }), /left/)
})
