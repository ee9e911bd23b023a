import assert from 'node:assert/strict'
import test from 'node:test'
import { viewLiveUtterance } from '../../transcript/utterance-view.ts'
import {
  headOf,
  type ServerMessage,
  type TextMessage,
  writeMessage,
} from '../messages/server-messages.ts'
import { initialEndpointerState } from '../recognition/endpointing/endpointer.ts'
import {
  audioAfter,
  formatLogRecord,
  type LogRecord,
  parseLogRecord,
  readRecords,
} from './log-records.ts'

const chunk = { at: 1_700_000_000_000, received: 3244, audio: 3200 }

const records: LogRecord[] = [
  { kind: 'begin', at: 1_700_000_000_000 },
  { kind: 'chunk', chunk },
  { kind: 'chunk', chunk: { ...chunk, held: 'UklGRg==' } },
  { kind: 'chunk', chunk: { ...chunk, released: 4 } },
  { kind: 'chunk', chunk: { ...chunk, held: 'UklG', pending: 3 } },
  { kind: 'chunk', chunk: { ...chunk, held: 'UklGRg==', released: 4 } },
  { kind: 'chunk', chunk: { ...chunk, isPart: true } },
  { kind: 'message', head: { type: 'speech_start' }, text: '{"text":"a ] b\\n"}' },
  { kind: 'message', head: { type: 'transcript', variant: 'partial' }, text: '{"text":"a b"}' },
  { kind: 'seen', messages: 7 },
  { kind: 'utterance', utterance: { channel: 1, number: 12, text: '{"text":" [a],[b]"}' } },
  { kind: 'utterance', utterance: { channel: 0, number: 0, text: null } },
  { kind: 'warning', text: 'cut "here"' },
  {
    kind: 'found',
    found: {
      channel: 1,
      number: 12,
      results: {
        sentiment_analysis: {
          success: true,
          is_empty: true,
          exec_time: 0.5,
          error: null,
          results: [],
        },
      },
    },
  },
  {
    kind: 'found',
    found: { channel: 0, number: 1, group: 'services', results: {} },
  },
  { kind: 'answer', answer: { purpose: 'prompted', key: 'a b', value: { text: 'x\ny' } } },
  {
    kind: 'snapshot',
    snapshot: {
      position: 62,
      channels: [{ endpoint: initialEndpointerState(), after: 0, lastWord: null }],
      ended: [],
      language: null,
      work: 0.5,
    },
  },
  {
    kind: 'summary',
    summary: {
      success: true,
      is_empty: false,
      exec_time: 0.5,
      error: null,
      results: 'It\nrained.',
    },
  },
  { kind: 'spoken', text: '{"text":" a b","speaker":1}' },
  { kind: 'diarized', diarized: { count: 1, seconds: 0.5, error: null } },
  { kind: 'stop', reason: 'client' },
]

test('every record round-trips through one line', () => {
  for (const record of records) {
    const line = formatLogRecord(record)
    assert.ok(!line.includes('\n'))
    assert.deepEqual(parseLogRecord(line), record)
  }
})

test('the head of a message in an older log is read from its text', () => {
  const utterance = viewLiveUtterance(
    { channel: 0, language: 'en', words: [] },
    { start: 0, end: 1 },
  )
  const error = { status_code: 400, exception: 'InvalidChunk', message: 'odd' }
  const messages: (ServerMessage | TextMessage)[] = [
    { type: 'end_session' },
    { type: 'audio_chunk', acknowledged: true, error: null, data: null },
    { type: 'audio_chunk', acknowledged: false, error, data: null },
    { type: 'error', error, data: { code: 'internal_error', message: 'odd' } },
    { type: 'transcript', data: { id: '00_00000000', is_final: false, utterance } },
    { type: 'transcript', data: { id: '00_00000000', is_final: true, utterance } },
    { type: 'post_transcript', text: '{"error":"in the data"}' },
  ]
  for (const message of messages) {
    const text = writeMessage(message, { sessionId: 'one', at: 1000 })
    const record = { kind: 'message', head: headOf(message), text }
    assert.deepEqual(parseLogRecord(`message ${text}`), record)
  }
})

test('readRecords reads only the requested kinds', async () => {
  async function* readLog() {
    yield [...records.map(formatLogRecord), 'found no JSON']
  }
  const read = (await Array.fromAsync(readRecords(readLog, ['stop', 'seen']))).flat()
  assert.deepEqual(
    read.map(({ kind }) => kind),
    ['seen', 'stop'],
  )
})

test('audioAfter returns a position only for chunks', () => {
  const sent = records.map((record) => audioAfter(formatLogRecord(record)))
  assert.deepEqual(
    sent.filter((audio) => audio !== undefined),
    [3200, 3200, 3200, 3200, 3200, 3200],
  )
})

test('the log ends at an invalid line', () => {
  for (const line of ['', 'chunk [1,', 'chunk', '\u0000\u0000', 'nonsense {}']) {
    assert.equal(audioAfter(line), Number.POSITIVE_INFINITY)
  }
})
