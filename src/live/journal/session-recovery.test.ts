import assert from 'node:assert/strict'
import test from 'node:test'
import { createMemorySessionStore } from '../../../test/support/live/stores/memory-session-store.ts'
import { createLog } from '../../observability/log.ts'
import { Connection, type OutgoingMessage } from '../connection/connection.ts'
import { MessageOutbox } from '../messages/message-outbox.ts'
import {
  dataOf,
  headOf,
  type Routing,
  type ServerMessage,
  writeMessage,
} from '../messages/server-messages.ts'
import { Journal } from './journal.ts'
import { formatLogRecord } from './log-records.ts'
import { recoverSession } from './session-recovery.ts'

const routing: Routing = { isForSocket: () => true, isForCallback: () => false }
const reading = { routing, addOnGroups: ['own'] as const, keepSeconds: 30 }

function line(message: ServerMessage, at = 1000): string {
  const text = writeMessage(message, { sessionId: 'one', at })
  return formatLogRecord({ kind: 'message', head: headOf(message), text })
}

function readLog(...lines: string[]) {
  const store = createMemorySessionStore({ audio: Buffer.alloc(0), lines })
  return recoverSession(store, { ...reading, maxMissed: 10_000 })
}

test('messages that wait for the result still wait after a restart', async () => {
  const types = ['start_recording', 'end_session'] as const
  const { messages } = await readLog(...types.map((type) => line({ type })))
  const { signal } = new AbortController()
  const store = createMemorySessionStore()
  const journal = new Journal({ store, log: createLog('silent'), signal })
  const outbox = new MessageOutbox({
    sessionId: 'one',
    routing,
    journal,
    warn: assert.fail,
    maxMissed: 10,
    earlier: messages,
  })
  const connection = new Connection({
    isResumed: true,
    onFrame: () => {},
    onConfirmed: () => {},
    onLost: () => {},
    whenReadable: () => undefined,
  })
  const sent = connection.messages()
  outbox.attach(connection)
  const typeOf = (text: string | undefined) => JSON.parse(text!).type
  assert.equal(typeOf((await sent.next()).value?.text), 'start_recording')
  outbox.acknowledge('{"type":"audio_chunk"}')
  outbox.release('end_session')
  assert.equal(typeOf((await sent.next()).value?.text), 'audio_chunk')
  assert.equal(typeOf((await sent.next()).value?.text), 'end_session')
})

test('an acknowledged position of repeated audio is restored', async () => {
  const ack = (byte_range: [number, number]): ServerMessage => {
    const data = { byte_range, time_range: [0, 0] as [number, number] }
    return { type: 'audio_chunk', acknowledged: true, error: null, data }
  }
  const chunk = (received: number, at: number) => {
    return formatLogRecord({ kind: 'chunk', chunk: { at, received, audio: received } })
  }
  const { chunks } = await readLog(
    chunk(100, 1000),
    line(ack([0, 40]), 1000),
    chunk(200, 60_000),
    line(ack([100, 150]), 61_000),
  )
  assert.deepEqual(chunks.ackBoundaries, [{ at: 61_000, received: 150 }])
})

test('with too many missed messages the oldest are dropped', async () => {
  const lines = Array.from({ length: 6 }, (_, time) => {
    return line({ type: 'speech_start', data: { time, channel: 0 } })
  })
  const store = {
    async *readLines() {
      yield lines
      yield [formatLogRecord({ kind: 'seen', messages: 1 })]
    },
  }
  const { messages } = await recoverSession(store, { ...reading, maxMissed: 2 })
  assert.deepEqual(
    messages.missed.map(({ sequence: number }) => number),
    [5, 6],
  )
})

test('final messages are recognized as such after a restart', async () => {
  const text = (type: 'post_transcript' | 'post_final_transcript') => {
    const written = writeMessage({ type, text: '{"a":1}' }, { sessionId: 'one', at: 1000 })
    return formatLogRecord({ kind: 'message', head: { type }, text: written })
  }
  const { messages, sent } = await readLog(
    line({ type: 'start_recording' }),
    line({ type: 'end_recording', data: { recording_duration: 1 } }),
    text('post_transcript'),
    line({ type: 'post_summarization', error: null, data: { results: '' } }),
    text('post_final_transcript'),
    line({ type: 'end_session' }),
  )
  const ofLast = ({ sequence: number, isClosing }: OutgoingMessage) => [number, isClosing]
  assert.deepEqual(messages.missed.map(ofLast), [
    [1, undefined],
    [2, true],
    [3, true],
    [4, true],
  ])
  assert.deepEqual([...messages.withheld.values()].map(ofLast), [
    [5, true],
    [6, true],
  ])
  const type = 'post_final_transcript'
  assert.equal(dataOf(sent.onceMessages.get(type)!, { type, sessionId: 'one' }), '{"a":1}')
})

test('completed diarization is restored', async () => {
  const utterances = formatLogRecord({ kind: 'spoken', text: 'no JSON, which is not looked at' })
  assert.equal((await readLog(utterances)).isDiarized, false)
  const diarized = { count: 1, seconds: 1, error: null }
  const noted = await readLog(utterances, formatLogRecord({ kind: 'diarized', diarized }))
  assert.equal(noted.isDiarized, true)
})

test('a long transcript is not parsed to find its type', async () => {
  const text = '{"type":"post_transcript","session_id":"one","created_at":"","data":no JSON}'
  const head = { type: 'post_transcript' } as const
  const { messages } = await readLog(formatLogRecord({ kind: 'message', head, text }))
  assert.equal(messages.missed[0]?.text, text)
})

test('many confirmations take little time to read', async () => {
  const lines = Array.from({ length: 20_000 }, () => line({ type: 'start_recording' }))
  for (let i = 0; i < 5000; i++) lines.push(formatLogRecord({ kind: 'seen', messages: i }))
  const bare = performance.now()
  await readLog(...lines.slice(0, 20_000))
  const began = performance.now()
  const { messages } = await readLog(...lines)
  // One by one, the confirmations take many times as long as all messages.
  assert.ok(performance.now() - began < 5 * (began - bare))
  assert.equal(messages.missed.length, 10_000)
})

test('an incomplete header is restored from its parts', async () => {
  const records = ['xx', 'RIFF', 'size', 'WA'].map((held, i) => {
    const received = 2 + i * 4
    const pending = i === 0 ? 2 : i * 4 - (i === 3 ? 2 : 0)
    const released = i === 1 ? 2 : 0
    const chunk = { at: i * 100_000, received, audio: 2, held: btoa(held), pending }
    return formatLogRecord({ kind: 'chunk', chunk: { ...chunk, ...(released && { released }) } })
  })
  const { chunks } = await readLog(...records)
  assert.equal(Buffer.from(chunks.pending).toString(), 'RIFFsizeWA')
  const audio = { at: 500_000, received: 14, audio: 4 }
  const later = await readLog(...records, formatLogRecord({ kind: 'chunk', chunk: audio }))
  assert.equal(later.chunks.pending.length, 0)
})
