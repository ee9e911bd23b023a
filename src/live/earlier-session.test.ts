import assert from 'node:assert/strict'
import test from 'node:test'
import { createLog } from '../log.ts'
import { Connection } from './connection.ts'
import { readEarlier } from './earlier-session.ts'
import { Journal } from './journal.ts'
import { type Routing, type ServerMessage, writeMessage } from './messages.ts'
import { Outbox } from './outbox.ts'
import { writeRecord } from './session-log.ts'

const routing: Routing = { isForSocket: () => true, isForCallback: () => false }

function line(message: ServerMessage, at = 1000): string {
  return writeRecord({ kind: 'message', text: writeMessage(message, { sessionId: 'one', at }) })
}

function readLog(...lines: string[]) {
  const files = {
    async *readLines() {
      yield lines
    },
  }
  return readEarlier(files, { routing, keepSeconds: 30 })
}

test('what was to be sent when the result is stored waits for that also in the next process', async () => {
  const types = ['start_recording', 'end_session'] as const
  const { messages } = await readLog(...types.map((type) => line({ type })))
  const { signal } = new AbortController()
  const files = { write: async () => {}, sync: async () => {} }
  const journal = new Journal({ files, log: createLog('silent'), signal, onBroken: assert.fail })
  const outbox = new Outbox({
    sessionId: 'one',
    routing,
    journal,
    maxMissed: 10,
    earlier: messages,
  })
  const connection = new Connection({
    isResumed: true,
    onFrame: () => {},
    onSeen: () => {},
    onLost: () => {},
    room: () => undefined,
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

test('an ack of bytes that came again is known as a place where a client goes on', async () => {
  const ack = (byte_range: [number, number]): ServerMessage => {
    const data = { byte_range, time_range: [0, 0] as [number, number] }
    return { type: 'audio_chunk', acknowledged: true, error: null, data }
  }
  const chunk = (received: number, at: number) => {
    return writeRecord({ kind: 'chunk', chunk: { at, received, sound: received } })
  }
  const { chunks } = await readLog(
    chunk(100, 1000),
    line(ack([0, 40]), 1000),
    chunk(200, 60_000),
    line(ack([100, 150]), 61_000),
  )
  assert.deepEqual(chunks.seams, [{ at: 61_000, received: 150 }])
})
