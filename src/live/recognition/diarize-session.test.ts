import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DiarizationTask, SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import { viewLiveUtterance } from '../../transcript/utterance-view.ts'
import { Journal } from '../journal/journal.ts'
import { formatLogRecord, type LogRecord, parseLogRecord } from '../journal/log-records.ts'
import type { DiarizationParams } from '../request/diarization-params.ts'
import { readUtterances } from '../result/session-utterances.ts'
import { diarizeSession } from './diarize-session.ts'

type Speech = Pick<SpeechEngine, 'diarize'>
type Requested = DiarizationParams['realtime_processing']

type Options = Partial<Speech> & {
  requested?: Requested
  timeout?: number
  signal?: AbortSignal
  restoreSamples?: () => Promise<void>
}

const silent = createLog('silent')

function utteranceLine(
  text: string,
  { start, channel }: { start: number; channel: number },
): string {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: start + i, end: start + i + 0.5, confidence: 0.5 }
  })
  const view = viewLiveUtterance({ channel, language: 'en', words }, { start, end: start })
  const utterance = { channel, number: start, text: JSON.stringify(view) }
  return formatLogRecord({ kind: 'utterance', utterance })
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
    utteranceLine('c', { start: 5, channel: 1 }),
    utteranceLine('a b', { start: 1, channel: 0 }),
    utteranceLine('d', { start: 9, channel: 0 }),
  ]
  async function* readLog() {
    yield lines
  }
  const tasks: DiarizationTask[] = []
  const speech: Speech = {
    async diarize(task) {
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
  const store = {
    write: async (_: unknown, noted: readonly string[]) => {
      lines.push(...noted)
      records.push(...noted.map(parseLogRecord))
    },
    sync: async () => ({ audioBytes: 0, logBytes: 0 }),
  }
  const journal = new Journal({ store, log: silent, signal })
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
    tasks,
    folder,
  }
}

test('utterances are split by speaker and keep their words and spaces', async (t) => {
  const { utterances, diarized, tasks } = await diarize(t)
  assert.deepEqual(
    utterances.map(({ text, start, channel, speaker }) => [text, start, channel, speaker]),
    [
      ['a', 1, 0, 0],
      ['b', 2, 0, 1],
      ['c', 5, 1, 0],
      ['d', 9, 0, 0],
    ],
  )
  assert.deepEqual([diarized.count, diarized.error], [4, null])
  const view = JSON.parse(utterances[1]!.json)
  assert.deepEqual(view, {
    start: 2,
    end: 2.5,
    confidence: 0.5,
    channel: 0,
    speaker: 1,
    language: 'en',
    text: ' b',
    words: [{ word: ' b', start: 2, end: 2.5, confidence: 0.5 }],
  })
  const { utterances: embedded } = tasks[0]!.transcript
  assert.deepEqual(
    embedded.flatMap(({ words }) => words.map(({ text }) => text)),
    ['a', 'b', 'c', 'd'],
  )
})

test('the embeddings of each channel are stored beside its samples', async (t) => {
  const { tasks, folder } = await diarize(t, {
    requested: { diarization_config: { max_speakers: 3, min_speakers: 0 } },
  })
  const [task] = tasks
  assert.deepEqual(task!.counts, { max: 3 })
  assert.deepEqual(task!.channels, [
    { channel: 0, path: join(folder, 'channel-0'), samples: 500 },
    { channel: 1, path: join(folder, 'channel-1'), samples: 500 },
  ])
  const written: string[] = []
  const part = { channel: 1, part: 2, model: 'm' }
  const file = await task!.checkpointEmbeddings(part, async (to) => void written.push(to))
  assert.deepEqual([file, written], [join(folder, 'channel-1.embeddings-2'), [file]])
})

test('speaker confidence is reported if requested', async (t) => {
  const { utterances } = await diarize(t, {
    requested: { diarization_config: { speaker_confidence: true } },
  })
  assert.equal(JSON.parse(utterances[0]!.json).speaker_confidence, 0.123)
})

test('samples are restored before diarization', async (t) => {
  const order: string[] = []
  await diarize(t, {
    restoreSamples: async () => void order.push('restored'),
    async diarize() {
      order.push('diarized')
      return []
    },
  })
  assert.deepEqual(order, ['restored', 'diarized'])
})

test('an unusable added model is named in the error', async (t) => {
  const failing: Speech['diarize'] = async () => {
    throw new AppError('speaker_model_unusable', 'campplus')
  }
  const { diarized } = await diarize(t, { diarize: failing })
  assert.equal(diarized.error?.exception, 'AddonFailed')
  assert.match(diarized.error.message, /campplus/)
})

test('after a failed diarization the utterances are kept', async (t) => {
  const { utterances, diarized } = await diarize(t, {
    diarize: async () => {
      throw new TypeError('a mistake')
    },
  })
  assert.equal(diarized.error?.exception, 'AddonFailed')
  assert.deepEqual(
    utterances.map(({ text }) => text),
    ['a b', 'c', 'd'],
  )
})

test('a diarization that takes too long fails with AddonTimeout', async (t) => {
  const { diarized } = await diarize(t, {
    timeout: 0,
    diarize: (_, { signal }) => {
      return new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
  })
  assert.equal(diarized.error?.exception, 'AddonTimeout')
})

test('suspending a session discards its diarization', async (t) => {
  const stop = new AbortController()
  const leaving: Speech['diarize'] = async () => {
    stop.abort(new Error('left'))
    throw new AppError('engine_unavailable')
  }
  await assert.rejects(diarize(t, { signal: stop.signal, diarize: leaving }), /left/)
})
