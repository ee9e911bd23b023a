import assert from 'node:assert/strict'
import test from 'node:test'
import type { AddOnError } from '../../text/result/steps/envelope.ts'
import { viewLiveUtterance } from '../../transcript/utterance-view.ts'
import { chunkAcknowledgment, rangeAcknowledgment } from '../input/acknowledgment.ts'
import {
  type ChunkRecord,
  formatLogRecord,
  type LogRecord,
  type ReadLog,
} from '../journal/log-records.ts'
import { buildLiveResult, buildTranscription } from './build-live-result.ts'
import { withMessages } from './result-messages.ts'

const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const
const options = {
  sessionId: 'a',
  format,
  hasAcks: true,
  maxMessages: 100,
  maxMessageBytes: Number.POSITIVE_INFINITY,
}

function logOf(records: readonly LogRecord[]) {
  return async function* () {
    // In batches, as files are read.
    for (const record of records) yield [formatLogRecord(record)]
  }
}

/** Returns an utterance of one word per name, a second each. */
function utteranceRecord(
  text: string,
  place: { start: number; channel: number; number: number },
): LogRecord {
  const { start, channel, number } = place
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: start + i, end: start + i + 0.5, confidence: 0.5 }
  })
  const view = viewLiveUtterance({ channel, language: 'en', words }, { start, end: start })
  const utterance = { channel, number, text: text === '' ? null : JSON.stringify(view) }
  return { kind: 'utterance', utterance }
}

function message(text: string): LogRecord {
  const { type = 'error', acknowledged = true } = JSON.parse(text)
  return { kind: 'message', head: { type, ...(!acknowledged && { variant: 'error' }) }, text }
}

function chunk(received: number): { kind: 'chunk'; chunk: ChunkRecord } {
  return { kind: 'chunk', chunk: { at: 1_700_000_000_000, received, audio: received } }
}

/** Returns the result of the recognized utterances. */
async function resultOf(readLog: ReadLog, addOns: Record<string, string> = {}) {
  const { transcription } = await buildTranscription(readLog)
  const measures = { duration: 12.3456789, channels: 2, work: 0.5, warnings: [], addOns }
  return { transcription, whole: buildLiveResult(transcription, measures) }
}

async function messagesOf(
  records: readonly LogRecord[],
  changed: Partial<typeof options> = {},
): Promise<string[]> {
  const readLog = logOf(records)
  const { whole } = await resultOf(readLog)
  const pieces = await Array.fromAsync(withMessages(whole, readLog, { ...options, ...changed }))
  return JSON.parse(pieces.join('')).messages
}

test('utterances are sorted by start and channel, the transcript is their text', async () => {
  const log = logOf([
    utteranceRecord('b c', { start: 4, channel: 0, number: 0 }),
    utteranceRecord('', { start: 1, channel: 0, number: 1 }),
    utteranceRecord('d', { start: 4, channel: 1, number: 1 }),
    utteranceRecord('a', { start: 2, channel: 1, number: 0 }),
  ])
  const { whole, transcription } = await resultOf(log)
  const result = JSON.parse(whole)
  assert.deepEqual(JSON.parse(transcription), result.transcription)
  assert.equal(result.transcription.full_transcript, 'a b c d')
  assert.deepEqual(result.transcription.languages, ['en'])
  assert.deepEqual(
    result.transcription.utterances.map(({ text }: { text: string }) => text),
    [' a', ' b c', ' d'],
  )
  assert.deepEqual(result.metadata, {
    audio_duration: 12.345679,
    number_of_distinct_channels: 2,
    billing_time: 24.691358,
    transcription_time: 0.5,
    warnings: [],
  })
  assert.deepEqual(Object.keys(result), ['metadata', 'transcription'])
})

test('diarized utterances replace the original ones', async () => {
  const sent = utteranceRecord('a b', { start: 0, channel: 0, number: 0 })
  const spokenRecord = (text: string, speaker: number): LogRecord => {
    const span = { start: 0, end: 1 }
    const words = [{ text, start: speaker, end: speaker + 0.5, confidence: 1 }]
    const view = viewLiveUtterance({ channel: 0, language: 'en', words, speaker }, span)
    return { kind: 'spoken', text: JSON.stringify(view) }
  }
  const diarized = (error: AddOnError | null): LogRecord => {
    return { kind: 'diarized', diarized: { count: error ? 0 : 2, seconds: 1, error } }
  }
  const textsOf = async (...records: LogRecord[]) => {
    const { utterances } = await buildTranscription(logOf(records))
    return utterances.map(({ text, speaker }) => [text, speaker])
  }
  // A process was killed before it had logged all of them; the next one logs them again.
  const notes = [spokenRecord('a', 0), spokenRecord('a', 0), spokenRecord('b', 1)]
  assert.deepEqual(await textsOf(sent, ...notes), [['a b', undefined]])
  assert.deepEqual(await textsOf(sent, ...notes, diarized(null)), [
    ['a', 0],
    ['b', 1],
  ])
  const error = { status_code: 500, exception: 'AddonFailed', message: 'broke down' }
  assert.deepEqual(await textsOf(sent, ...notes, diarized(error)), [['a b', undefined]])
})

test('requested add-ons are included in the result', async () => {
  const { whole } = await resultOf(logOf([]), { summarization: '{"results":"all"}' })
  assert.deepEqual(JSON.parse(whole).summarization, { results: 'all' })
})

test('messages are the last key, in order, with acknowledgments', async () => {
  const records = [chunk(3200), message('{"type":"a"}'), chunk(6400), message('{"type":"b"}')]
  const acks = [
    chunkAcknowledgment(
      { before: { at: 0, received: 0, audio: 0 }, chunk: chunk(3200).chunk },
      options,
    ),
    chunkAcknowledgment({ before: chunk(3200).chunk, chunk: chunk(6400).chunk }, options),
  ]
  const messages = await messagesOf(records)
  assert.deepEqual(messages, [acks[0], '{"type":"a"}', acks[1], '{"type":"b"}'])
  assert.deepEqual(JSON.parse(messages[2]!).data, {
    byte_range: [3200, 6400],
    time_range: [0.1, 0.2],
  })
  assert.deepEqual(await messagesOf(records, { hasAcks: false }), ['{"type":"a"}', '{"type":"b"}'])
})

test('a chunk with several acknowledgments is listed once', async () => {
  const part = chunk(6400)
  part.chunk.isPart = true
  const sent = message('{"type":"audio_chunk"}')
  assert.equal((await messagesOf([chunk(3200), part, sent])).length, 2)
  // If its chunk counted as well, there would seem to be one too many.
  assert.equal((await messagesOf([chunk(3200), part, sent], { maxMessages: 2 })).length, 2)
})

test('with too many messages the oldest acks are dropped, then other messages', async () => {
  const records = [chunk(1), message('"a"'), chunk(2), message('"b"'), chunk(3), message('"c"')]
  const kinds = (messages: readonly string[]) => {
    return messages.map((text) => (text.length < 5 ? text : JSON.parse(text).data.byte_range[1]))
  }
  assert.deepEqual(kinds(await messagesOf(records, { maxMessages: 5 })), [
    '"a"',
    2,
    '"b"',
    3,
    '"c"',
  ])
  assert.deepEqual(kinds(await messagesOf(records, { maxMessages: 3 })), ['"a"', '"b"', '"c"'])
  assert.deepEqual(kinds(await messagesOf(records, { maxMessages: 1 })), ['"c"'])
})

test('with too many bytes the same messages are dropped, except the transcript', async () => {
  const long = (name: string) => `"${name.repeat(1000)}"`
  const whole = `{"type":"post_transcript","data":"${'x'.repeat(9000)}"}`
  const texts = [long('a'), long('b'), whole, long('c')]
  const records = [chunk(1), ...texts.map(message)]
  const kept = async (maxMessageBytes: number) => await messagesOf(records, { maxMessageBytes })
  assert.equal((await kept(3500)).length, 5)
  assert.deepEqual(await kept(3100), texts)
  assert.deepEqual(await kept(2500), texts.slice(1))
  assert.deepEqual(await kept(1), [whole])
})

test('warnings are included in the metadata', async () => {
  const measures = { duration: 1, channels: 1, work: 0, addOns: {} }
  const { metadata } = JSON.parse(buildLiveResult('{}', { ...measures, warnings: ['cut'] }))
  assert.deepEqual(metadata.warnings, ['cut'])
  assert.deepEqual(
    JSON.parse(buildLiveResult('{}', { ...measures, warnings: [] })).metadata.warnings,
    [],
  )
})

test('an acknowledgment logged as a message is dropped like the others', async () => {
  const timeRange: [number, number] = [0, 0]
  const at = { sessionId: 'a', at: 1000 }
  const ack = rangeAcknowledgment({ byteRange: [0, 7], timeRange }, at)
  const refused = ack.replace('"acknowledged":true', '"acknowledged":false')
  const records = [message(ack), message('"a"'), message(refused), chunk(9)]
  const messages = await messagesOf(records, { maxMessages: 3 })
  assert.deepEqual(messages.slice(0, 2), ['"a"', refused])
  assert.deepEqual((await messagesOf(records, { maxMessages: 2 })).at(-1), refused)
})

test('messages sent while the result was stored precede the last ones', async () => {
  const [final, end] = ['{"type":"post_final_transcript"}', '{"type":"end_session"}']
  const records = ['"a"', final, end, '"refused"'].map(message)
  assert.deepEqual(await messagesOf(records), ['"a"', '"refused"', final, end])
  assert.deepEqual(await messagesOf(records, { maxMessages: 1 }), [end])
})

test('chunks of the result are short and end between characters', async () => {
  for (const before of ['', 'x']) {
    const whole = JSON.stringify({ text: `${before}${'😀'.repeat(100_000)}` })
    const pieces = await Array.fromAsync(withMessages(whole, logOf([message(whole)]), options))
    assert.ok(Math.max(...pieces.map(({ length }) => length)) < 200_000)
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
    assert.deepEqual(JSON.parse(bytes.toString()), { ...JSON.parse(whole), messages: [whole] })
  }
})

test('building a long result yields to the event loop', async () => {
  const records = Array.from({ length: 5000 }, (_, number) => {
    return utteranceRecord('word', { start: number, channel: 0, number })
  })
  const lines = records.map(formatLogRecord)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  count()
  async function* readLog() {
    yield lines
  }
  const { whole } = await resultOf(readLog)
  isOver = true
  assert.ok(turns >= 10, `${turns} turns`)
  assert.equal(JSON.parse(whole).transcription.utterances.length, 5000)
})

test('a long message written in chunks is unchanged, including surrogate pairs', async () => {
  for (const before of ['', 'x']) {
    const text = JSON.stringify({ text: `${before}${'😀"\\\n'.repeat(40_000)}` })
    assert.deepEqual(await messagesOf([message(text)]), [text])
  }
})
