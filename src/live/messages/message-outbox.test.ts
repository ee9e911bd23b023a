import assert from 'node:assert/strict'
import test from 'node:test'
import { viewLiveUtterance } from '../../transcript/utterance-view.ts'
import { Connection } from '../connection/connection.ts'
import type { AppendOutcome, Journal, JournalEntry } from '../journal/journal.ts'
import { warningTexts } from '../journal/session-warnings.ts'
import { MessageOutbox, type MessageOutboxOptions } from './message-outbox.ts'
import {
  headOf,
  type MessageFlags,
  partialHead,
  routingOf,
  type ServerMessage,
} from './server-messages.ts'
import { type SessionUnreadBytes, UnreadBytes } from './unread-bytes.ts'

const none = {} as MessageFlags
const span = { start: 0, end: 1 }
const utterance = viewLiveUtterance({ channel: 0, language: 'en', words: [] }, span)
const partial: ServerMessage = {
  type: 'transcript',
  data: { id: '00_00000000', is_final: false, utterance },
}
const error = { status_code: 409, exception: 'RecordingStopped', message: 'stopped' }
const refused: ServerMessage = { type: 'audio_chunk', acknowledged: false, error, data: null }

/** Opens an outbox without a client, and collects what it stores. */
function openOutbox(
  flags: { socket: Partial<MessageFlags>; callback: Partial<MessageFlags> },
  more: Partial<MessageOutboxOptions> & { isLarge?: boolean } = {},
) {
  const stored: string[] = []
  const append = ({ lines }: JournalEntry): AppendOutcome => {
    stored.push(...lines)
    return { written: Promise.resolve(), durable: Promise.resolve() }
  }
  const journal = { append, isLarge: more.isLarge ?? false } as unknown as Journal
  const routing = routingOf({
    messages_config: { ...none, ...flags.socket },
    callback: true,
    callback_config: { ...none, ...flags.callback },
  })
  const options = {
    sessionId: 'a',
    routing,
    journal,
    maxMissed: 10,
    warn() {},
    earlier: undefined,
    ...more,
  }
  return { outbox: new MessageOutbox(options), stored }
}

test('messages selected for the callback are stored without a client', () => {
  const selected = { receive_partial_transcripts: true, receive_errors: true }
  const { outbox, stored } = openOutbox({ socket: {}, callback: selected })
  for (const message of [partial, refused]) {
    assert.ok(outbox.hasReceiverNow(headOf(message)))
    outbox.send(message)
  }
  assert.equal(stored.length, 2)
})

test('messages only for the socket are not created without a client', () => {
  const { outbox } = openOutbox({ socket: { receive_partial_transcripts: true }, callback: {} })
  assert.ok(!outbox.hasReceiverNow(partialHead))
})

test('messages that no receiver selected are not stored', () => {
  const { outbox, stored } = openOutbox({ socket: {}, callback: {} })
  outbox.send(partial)
  assert.deepEqual(stored, [])
})

test('acknowledgments are created for the callback even if the client wants none', () => {
  const selected = { receive_acknowledgments: true }
  assert.ok(openOutbox({ socket: {}, callback: selected }).outbox.wantsAcks)
  assert.ok(!openOutbox({ socket: {}, callback: {} }).outbox.wantsAcks)
})

/** Resolves when what was sent is stored, and so delivered. */
const stored = () => new Promise(setImmediate)

const finals = { receive_final_transcripts: true, receive_partial_transcripts: true }

function final(number: number): ServerMessage {
  const id = `00_${String(number).padStart(8, '0')}`
  const long = { ...utterance, text: 'x'.repeat(1000) }
  return { type: 'transcript', data: { id, is_final: true, utterance: long } }
}

function connectTo(outbox: MessageOutbox, unread?: SessionUnreadBytes): Connection {
  const onSeen = () => {}
  const connection = new Connection({
    isResumed: false,
    onFrame() {},
    onConfirmed: onSeen,
    onLost() {},
    whenReadable: () => undefined,
    unread,
  })
  outbox.attach(connection)
  return connection
}

test('messages that no client fetches are kept up to a limit, with a warning', async () => {
  const unread = new UnreadBytes({ perSession: 20_000, perAccount: 1e6, perProcess: 1e6 })
  const warnings: string[] = []
  const warn = (text: string) => warnings.push(text)
  const sessionBytes = unread.open('a')
  const limits = { maxMissed: 1000, unread: sessionBytes, warn }
  const { outbox } = openOutbox({ socket: finals, callback: {} }, limits)
  for (let number = 0; number < 100; number++) outbox.send(final(number))
  await stored()
  const connection = connectTo(outbox)
  connection.end(1000)
  const kept = connection.takeUnconfirmed()
  assert.ok(kept.length > 10 && kept.length < 20)
  assert.match(kept.at(-1)!.text, /00_00000099/)
  assert.equal(warnings[0], warningTexts.unread)
  assert.ok(!sessionBytes.isOver())
})

test('unread messages count against the limit and close the connection with 1013', async () => {
  const unread = new UnreadBytes({ perSession: 20_000, perAccount: 1e6, perProcess: 1e6 })
  const sessionBytes = unread.open('a')
  const { outbox } = openOutbox(
    { socket: finals, callback: {} },
    { maxMissed: 1000, unread: sessionBytes },
  )
  const connection = connectTo(outbox, sessionBytes)
  for (let number = 0; number < 100; number++) outbox.send(final(number))
  await stored()
  assert.equal(connection.closeCode, 1013)
  outbox.detach(connection)
  assert.ok(!sessionBytes.isOver())
})

test('messages that the client has seen no longer count', async () => {
  const unread = new UnreadBytes({ perSession: 20_000, perAccount: 1e6, perProcess: 1e6 })
  const sessionBytes = unread.open('a')
  const { outbox } = openOutbox(
    { socket: finals, callback: {} },
    { maxMissed: 1000, unread: sessionBytes },
  )
  const connection = connectTo(outbox, sessionBytes)
  for (let number = 1; number <= 100; number++) {
    outbox.send(final(number))
    await stored()
    connection.markConfirmed(number)
  }
  assert.equal(connection.closeCode, undefined)
})

test('partials are omitted when the log is large, with a warning', () => {
  const warnings: string[] = []
  const warn = (text: string) => warnings.push(text)
  const large = { isLarge: true, warn }
  const { outbox, stored } = openOutbox({ socket: finals, callback: {} }, large)
  outbox.send(partial)
  outbox.send(final(1))
  assert.deepEqual([stored.length, ...warnings], [1, warningTexts.unkept])
})
