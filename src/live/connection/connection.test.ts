import assert from 'node:assert/strict'
import test from 'node:test'
import { Connection, type OutgoingMessage } from './connection.ts'

function open() {
  const received: string[] = []
  const connection = new Connection({
    isResumed: false,
    onFrame: (data) => received.push(`frame ${data.length}`),
    onConfirmed: (number) => received.push(`seen ${number}`),
    onLost: (code) => received.push(`lost ${code}`),
    whenReadable: () => undefined,
  })
  return { connection, received }
}

/** Collects all messages until the connection ends. */
async function drain(connection: Connection): Promise<string[]> {
  return (await Array.fromAsync(connection.messages())).map(({ text }) => text)
}

function message(text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { text, ...more }
}

test('messages are delivered in order, all of them before the close', async () => {
  const { connection } = open()
  const drained = drain(connection)
  connection.push(message('a'))
  connection.push(message('b'))
  connection.end(1000)
  connection.push(message('too late'))
  assert.deepEqual(await drained, ['a', 'b'])
  assert.equal(connection.closeCode, 1000)
})

test('frames are passed on until the server ends the connection', () => {
  const { connection, received } = open()
  connection.receive(new Uint8Array(3), true)
  connection.end(4400)
  connection.receive(new Uint8Array(4), true)
  assert.deepEqual(received, ['frame 3'])
})

test('a lost connection reports the close code of the side that ended it', () => {
  const lost = open()
  lost.connection.socketClosed(1001)
  assert.deepEqual(lost.received, ['lost 1001'])
  const ended = open()
  ended.connection.end(1013)
  ended.connection.socketClosed(1000)
  assert.deepEqual(ended.received, ['lost 1013'])
})

test('numbered messages are kept until they are confirmed', () => {
  const { connection, received } = open()
  for (let number = 1; number <= 3; number++)
    connection.push(message(`m${number}`, { sequence: number }))
  connection.push(message('ack'))
  connection.markConfirmed(2)
  assert.deepEqual(received, ['seen 2'])
  assert.deepEqual(
    connection.takeUnconfirmed().map(({ text }) => text),
    ['m3'],
  )
  assert.deepEqual(connection.takeUnconfirmed(), [])
})

test('a slow client receives no partials', async () => {
  const { connection } = open()
  connection.push(message('x'.repeat(300_000)))
  connection.push(message('partial', { isPartial: true }))
  connection.push(message('final', { sequence: 1 }))
  connection.end(1000)
  assert.deepEqual((await drain(connection)).slice(1), ['final'])
})

test('a client that reads nothing is closed with 1013 and keeps undelivered messages', async () => {
  const { connection } = open()
  connection.push(message('x'.repeat(9_000_000), { sequence: 1 }))
  connection.push(message('one more', { sequence: 2 }))
  assert.equal(connection.closeCode, 1013)
  assert.deepEqual(await drain(connection), [])
  assert.equal(connection.takeUnconfirmed().length, 2)
})

test('the last messages of a session are sent however long they are', async () => {
  const { connection } = open()
  const long = 'x'.repeat(9_000_000)
  connection.push(message(long, { isClosing: true }))
  connection.push(message('end', { isClosing: true }))
  connection.end(1000)
  assert.deepEqual(await drain(connection), [long, 'end'])
})

test('missed messages are sent first, without counting as backlog', async () => {
  const { connection } = open()
  const missed = Array.from({ length: 20 }, (_, i) => {
    return message(`${i} ${'x'.repeat(1_000_000)}`, { sequence: i + 1 })
  })
  connection.push(message('new', { sequence: 21 }))
  connection.replay(missed)
  connection.push(message('newer', { sequence: 22 }))
  connection.end(1000)
  const texts = await drain(connection)
  assert.equal(texts.length, 22)
  assert.ok(texts[0]!.startsWith('0 '))
  assert.deepEqual(texts.slice(-2), ['new', 'newer'])
})

test('numbered messages are kept after the server has ended the connection', () => {
  const { connection } = open()
  connection.end(1013)
  connection.push(message('too late for this one', { sequence: 1 }))
  connection.push(message('an ack'))
  assert.deepEqual(
    connection.takeUnconfirmed().map(({ text }) => text),
    ['too late for this one'],
  )
})
