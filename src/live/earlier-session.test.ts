import assert from 'node:assert/strict'
import test from 'node:test'
import { readEarlier } from './earlier-session.ts'
import { initialEndpoint } from './endpointing.ts'
import { type MessageFlags, routingOf, type ServerMessage, writeMessage } from './messages.ts'
import { type LogRecord, type Snapshot, writeRecord } from './session-log.ts'
import { viewUtterance } from './views.ts'

const on = { receive_final_transcripts: true, receive_speech_events: true } as MessageFlags
const routing = routingOf({ messages_config: on, callback: false })

function read(records: readonly LogRecord[]) {
  const files = {
    async *readLines() {
      yield records.map(writeRecord)
    },
  }
  return readEarlier(files, { routing, keepSeconds: 30 })
}

function message(of: ServerMessage): LogRecord {
  return { kind: 'message', text: writeMessage(of, { sessionId: 'a', at: 0 }) }
}

function speech(type: 'speech_start' | 'speech_end', time: number): LogRecord {
  return message({ type, data: { time, channel: 0 } })
}

function transcript(id: string, is_final: boolean): LogRecord {
  const utterance = viewUtterance([], { channel: 0, language: 'en', span: { start: 0, end: 1 } })
  return message({ type: 'transcript', data: { id, is_final, utterance } })
}

const snapshot: Snapshot = {
  position: 156,
  channels: [{ endpoint: initialEndpoint(), after: 0 }],
  ended: [],
  language: 'en',
  work: 1,
}

test('speech events count from the last snapshot on, finals from the start', async () => {
  const { told, snapshot: last } = await read([
    speech('speech_start', 1),
    transcript('00_00000000', true),
    { kind: 'snapshot', snapshot },
    speech('speech_end', 2),
    transcript('00_00000001', false),
    { kind: 'utterance', utterance: { channel: 0, number: 0, text: null } },
  ])
  assert.deepEqual(last, snapshot)
  assert.deepEqual([...told.speech], ['speech_end 0 2'])
  assert.deepEqual([...told.finals], ['00_00000000'])
  assert.deepEqual([...told.partials], ['00_00000001'])
  assert.deepEqual([...told.done], ['00_00000000'])
})

test('messages that were not confirmed are sent again, with their numbers', async () => {
  const { messages } = await read([
    speech('speech_start', 1),
    transcript('00_00000000', false),
    transcript('00_00000000', true),
    { kind: 'seen', messages: 1 },
    speech('speech_end', 2),
  ])
  assert.equal(messages.numbered, 3)
  assert.deepEqual(
    messages.missed.map(({ number, text }) => [number, JSON.parse(text).type]),
    [
      [2, 'transcript'],
      [3, 'speech_end'],
    ],
  )
})

test('messages about the whole session are known by their type', async () => {
  const { told, stop, beganAt } = await read([
    { kind: 'begin', at: 1234 },
    message({ type: 'start_recording' }),
    { kind: 'stop', reason: 'too_long' },
  ])
  assert.deepEqual([...told.once.keys()], ['start_recording'])
  assert.deepEqual([stop, beganAt], ['too_long', 1234])
})

test('of the chunks those are kept that a client may repeat, and the one before them', async () => {
  const chunkAt = (seconds: number): LogRecord => {
    const received = 100 * seconds
    return { kind: 'chunk', chunk: { at: seconds * 1000, received, sound: received } }
  }
  const { chunks } = await read([1, 5, 20, 35, 40].map(chunkAt))
  assert.equal(chunks.before.at, 5000)
  assert.deepEqual(
    chunks.recent.map(({ at }) => at / 1000),
    [20, 35, 40],
  )
})
