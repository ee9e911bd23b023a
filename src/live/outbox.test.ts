import assert from 'node:assert/strict'
import test from 'node:test'
import type { Entry, Journal } from './journal.ts'
import { type MessageFlags, routingOf, type ServerMessage } from './messages.ts'
import { Outbox } from './outbox.ts'
import { viewUtterance } from './views.ts'

const none = {} as MessageFlags
const span = { start: 0, end: 1 }
const utterance = viewUtterance([], { channel: 0, language: 'en', span })
const partial: ServerMessage = {
  type: 'transcript',
  data: { id: '00_00000000', is_final: false, utterance },
}
const error = { status_code: 409, exception: 'RecordingStopped', message: 'stopped' }
const refused: ServerMessage = { type: 'audio_chunk', acknowledged: false, error, data: null }

/** An outbox without a client, and what it stores. */
function openOutbox(flags: { socket: Partial<MessageFlags>; callback: Partial<MessageFlags> }) {
  const stored: string[] = []
  const journal = { append: ({ lines }: Entry) => void stored.push(...lines) } as Journal
  const routing = routingOf({
    messages_config: { ...none, ...flags.socket },
    callback: true,
    callback_config: { ...none, ...flags.callback },
  })
  const options = { sessionId: 'a', routing, journal, maxMissed: 10, earlier: undefined }
  return { outbox: new Outbox(options), stored }
}

test('what the callback is to have is wanted and stored though there is no client', () => {
  const selected = { receive_partial_transcripts: true, receive_errors: true }
  const { outbox, stored } = openOutbox({ socket: {}, callback: selected })
  for (const message of [partial, refused]) {
    assert.ok(outbox.isWanted(message))
    outbox.send(message)
  }
  assert.equal(stored.length, 2)
})

test('what only a client is to have is not wanted while there is none', () => {
  const { outbox } = openOutbox({ socket: { receive_partial_transcripts: true }, callback: {} })
  assert.ok(!outbox.isWanted(partial))
})

test('what nobody is to have is not stored', () => {
  const { outbox, stored } = openOutbox({ socket: {}, callback: {} })
  outbox.send(partial)
  assert.deepEqual(stored, [])
})

test('acknowledgements are made for the callback though the client wants none', () => {
  const selected = { receive_acknowledgments: true }
  assert.ok(openOutbox({ socket: {}, callback: selected }).outbox.wantsAcks)
  assert.ok(!openOutbox({ socket: {}, callback: {} }).outbox.wantsAcks)
})
