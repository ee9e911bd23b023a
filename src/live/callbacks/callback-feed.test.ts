import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allFlags as all } from '../../../test/support/live/sessions/live-flags.ts'
import {
  chunk,
  emptyChunk,
  expectedOf,
  format,
  message,
  noFlags,
  noteMessage,
  openSession,
  type Session,
  sentAt,
  transcript,
} from '../../../test/support/live/sessions/test-callback-feed.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { createCallbackQueue } from '../../storage/live/live-callbacks.ts'
import { chunkAcknowledgment } from '../input/acknowledgment.ts'
import { formatLogRecord } from '../journal/log-records.ts'
import {
  flagOf,
  headOf,
  type MessageFlags,
  type ServerMessage,
} from '../messages/server-messages.ts'
import type { CallbackFeed } from './callback-feed.ts'

test('messages are queued in order with sequence numbers, once they are on disk', async (t) => {
  const session = await openSession(t)
  const feed = await session.openFeed()
  const first = chunk(3200)
  await session.append(
    `begin ${sentAt}`,
    session.begin,
    formatLogRecord({ kind: 'chunk', chunk: first }),
  )
  await session.write(noteMessage(transcript(session, 'hello')))
  await feed.feed()
  assert.deepEqual((await session.queued()).events, ['live.start_session', 'live.audio_chunk'])
  await session.store.sync()
  await feed.feed()
  const { seqs, events, bodies } = await session.queued()
  assert.deepEqual(seqs, [0, 1, 2])
  assert.deepEqual(events, ['live.start_session', 'live.audio_chunk', 'live.transcript'])
  const options = { sessionId: session.id, format }
  const ack = chunkAcknowledgment({ before: emptyChunk, chunk: first }, options)
  assert.deepEqual(
    bodies,
    expectedOf(session, [session.startText, ack, transcript(session, 'hello')]),
  )
})

test("callback flags select messages independently of the socket's flags", async (t) => {
  const session = await openSession(t, {
    flags: { ...noFlags, receive_partial_transcripts: true, receive_errors: true },
  })
  const feed = await session.openFeed()
  const refused: ServerMessage = {
    type: 'audio_chunk',
    acknowledged: false,
    error: { status_code: 409, exception: 'RecordingStopped', message: 'stopped' },
    data: null,
  }
  await session.append(
    session.begin,
    formatLogRecord({ kind: 'chunk', chunk: chunk(3200) }),
    noteMessage(transcript(session, 'par', false)),
    noteMessage(transcript(session, 'final')),
    noteMessage(message(session, refused)),
    noteMessage(message(session, { type: 'end_session' })),
  )
  assert.ok(await session.end(feed))
  const texts = [transcript(session, 'par', false), message(session, refused)]
  const { seqs, bodies } = await session.queued()
  assert.deepEqual(seqs, [0, 1])
  assert.deepEqual(bodies, expectedOf(session, texts))
})

test('the last two messages are queued together with the end of the job', async (t) => {
  const session = await openSession(t)
  const feed = await session.openFeed()
  const final = `${message(session, { type: 'end_session' }).replace('end_session', 'post_final_transcript').slice(0, -1)},"data":{}}`
  const lastQueued = message(session, { type: 'end_session' })
  const refused = transcript(session, 'told by the next process')
  await session.append(
    session.begin,
    noteMessage(final),
    noteMessage(lastQueued),
    noteMessage(refused),
  )
  await feed.feed()
  const before = ['live.start_session', 'live.transcript']
  assert.deepEqual((await session.queued()).events, before)
  assert.ok(await session.end(feed))
  const { seqs, events, bodies } = await session.queued()
  assert.deepEqual(seqs, [0, 1, 2, 3])
  assert.deepEqual(events, [...before, 'live.post_final_transcript', 'live.end_session'])
  assert.deepEqual(bodies.slice(2), expectedOf(session, [final, lastQueued]))
  assert.equal(await session.end(feed), false, 'a job ends once')
})

/**
 * Creates a writer of all kinds of log lines, which collects the messages that the callback must
 * receive.
 */
function createWriter(
  session: Session,
  { flags, random }: { flags: MessageFlags; random: () => number },
) {
  const expected: string[] = []
  const isSelected = (text: string) => flags[flagOf(headOf(JSON.parse(text)))]
  let before = emptyChunk
  let count = 0

  function logMessage(text: string): string {
    if (isSelected(text)) expected.push(text)
    return noteMessage(text)
  }

  function acknowledge(isPart: boolean): string {
    const next = { ...chunk(before.received + 1 + Math.floor(random() * 4000)) }
    const text = chunkAcknowledgment({ before, chunk: next }, { sessionId: session.id, format })
    before = next
    if (!isPart && isSelected(text)) expected.push(text)
    return formatLogRecord({ kind: 'chunk', chunk: isPart ? { ...next, isPart } : next })
  }

  function line(): string {
    const dice = random()
    const text = `${count++} ${'é'.repeat(random() < 0.02 ? 200_000 : random() * 100)}`
    if (dice < 0.3) return acknowledge(false)
    if (dice < 0.4) return acknowledge(true)
    if (dice < 0.45) return `seen ${count}`
    if (dice < 0.5) return `utterance [0,${count},null]`
    if (dice < 0.6) {
      return logMessage(
        message(session, { type: 'speech_start', data: { time: count, channel: 0 } }),
      )
    }
    return logMessage(transcript(session, text, dice < 0.8))
  }

  return { expected, line, logMessage }
}

test('each message is queued once and in order, however often the feed restarts', async (t) => {
  for (let seed = 0; seed < 4; seed++) {
    const random = createRandom(seed)
    const flags = { ...all }
    for (const flag of Object.keys(flags) as (keyof MessageFlags)[]) {
      if (seed > 1) flags[flag] = random() < 0.6
    }
    const session = await openSession(t, { flags })
    const writer = createWriter(session, { flags, random })
    await session.append(writer.logMessage(session.startText))
    let feed = await session.openFeed()
    for (let step = 0; step < 40; step++) {
      const dice = random()
      const lines = Array.from({ length: random() < 0.1 ? 500 : random() * 8 }, writer.line)
      await session.write(...lines)
      if (random() < 0.7) await session.store.sync()
      if (dice < 0.4) await feed.feed()
      else if (dice < 0.7) feed.wake()
      else if (dice < 0.9) {
        // Simulates a process that is killed in the middle of it.
        void feed.feed().catch(() => {})
        await feed.close()
        feed = await session.openFeed()
      }
    }
    await session.append(writer.logMessage(message(session, { type: 'end_session' })))
    await feed.close()
    feed = await session.openFeed()
    assert.ok(await session.end(feed))
    const { seqs, bodies } = await session.queued()
    assert.deepEqual(seqs, [...seqs.keys()], `seed ${seed}`)
    assert.deepEqual(bodies, expectedOf(session, writer.expected), `seed ${seed}`)
  }
})

test('a long message is queued as an object, which is deleted if queueing fails', async (t) => {
  const session = await openSession(t)
  const text = transcript(session, 'é'.repeat(300_000))
  await session.append(session.begin, noteMessage(text))
  const full = new Error('no room')
  const refused = await session.openFeed({ queueHeld: () => Promise.reject(full) })
  await assert.rejects(refused.feed(), full)
  assert.deepEqual(await session.objects(), [])
  const feed = await session.openFeed()
  await feed.feed()
  assert.equal((await session.objects()).length, 1)
  const { bodies } = await session.queued()
  assert.deepEqual(bodies.slice(1), expectedOf(session, [text]))
  const next = await session.openFeed()
  await next.feed()
  assert.equal((await session.objects()).length, 1, 'what was queued is not stored again')
})

test('a feed retries when the database refuses, and queues nothing twice', async (t) => {
  const session = await openSession(t)
  const { db, id } = session
  let refusals = 3
  const queue = createCallbackQueue(db, { maxQueued: 100 })
  const queued = Promise.withResolvers<void>()
  const feed = await session.openFeed({
    queueHeld: async (lease, messages) => {
      if (refusals-- > 0) throw new Error('no room')
      return queue(lease, messages)
    },
    onQueued: queued.resolve,
  })
  await session.append(session.begin, noteMessage(transcript(session, 'one')))
  feed.wake()
  await session.append(noteMessage(transcript(session, 'two')))
  await queued.promise
  await feed.feed()
  const { bodies } = await session.queued()
  const texts = ['one', 'two'].map((text) => transcript({ id }, text))
  assert.deepEqual(bodies.slice(1), expectedOf(session, texts))
})

test('messages are queued in batches at most ten times a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const session = await openSession(t)
  const sizes: number[] = []
  let queued = Promise.withResolvers<void>()
  const feed = await session.openFeed({
    queueHeld: async (_lease, messages) => {
      sizes.push(messages.length)
      return 0
    },
    onQueued: () => queued.resolve(),
    pauseMs: 100,
  })
  await session.append(session.begin, noteMessage(transcript(session, 'one')))
  feed.wake()
  await queued.promise
  // It has read all there is, and pauses.
  await feed.feed()
  queued = Promise.withResolvers()
  for (const text of ['two', 'three']) {
    await session.append(noteMessage(transcript(session, text)))
    feed.wake()
  }
  t.mock.timers.tick(99)
  await session.queued()
  assert.deepEqual(sizes, [1])
  t.mock.timers.tick(1)
  await queued.promise
  assert.deepEqual(sizes, [1, 2])
})

test('a long log is queued in batches of up to 200 messages', async (t) => {
  const session = await openSession(t)
  const sizes: number[] = []
  const feed = await session.openFeed({
    queueHeld: async (_lease, messages) => sizes.push(messages.length) && 0,
  })
  const chunks = Array.from({ length: 500 }, (_, i) => {
    return formatLogRecord({ kind: 'chunk', chunk: chunk(i + 1) })
  })
  await session.append(session.begin, ...chunks)
  await feed.feed()
  assert.deepEqual(sizes, [199, 200, 101], 'the first of all was queued when the job was made')
})

test('closing a feed leaves the rest of the log to the next one', async (t) => {
  const session = await openSession(t)
  const queue = createCallbackQueue(session.db, { maxQueued: 100 })
  const feed: CallbackFeed = await session.openFeed({
    queueHeld: (lease, messages) => {
      void feed.close()
      return queue(lease, messages)
    },
  })
  const texts = ['a', 'b', 'c'].map((text) => transcript(session, text.repeat(100_000)))
  await session.append(session.begin, ...texts.map(noteMessage))
  await assert.rejects(feed.finish(), { name: 'AbortError' })
  await assert.rejects(feed.finish(), { name: 'AbortError' })
  assert.deepEqual((await session.queued()).seqs, [0, 1])
  await (await session.openFeed()).feed()
  assert.deepEqual((await session.queued()).bodies.slice(1), expectedOf(session, texts))
})

test('with too many waiting messages only partials, speech events and acks drop', async (t) => {
  const session = await openSession(t, { maxQueued: 3 })
  const dropped: number[] = []
  const feed = await session.openFeed({ onDropped: (count) => dropped.push(count) })
  const partial = transcript(session, 'par', false)
  const speech = message(session, { type: 'speech_start', data: { time: 1, channel: 0 } })
  const ack = formatLogRecord({ kind: 'chunk', chunk: chunk(3200) })
  const final = transcript(session, 'final')
  const error = { status_code: 400, exception: 'InvalidMessage', message: 'unreadable' }
  const data = { code: 'invalid_message', message: 'unreadable' }
  const failure = message(session, { type: 'error', error, data })
  await session.append(session.begin, noteMessage(partial), noteMessage(final))
  await feed.feed()
  await session.append(
    noteMessage(partial),
    noteMessage(speech),
    ack,
    noteMessage(final),
    noteMessage(failure),
  )
  await feed.feed()
  assert.deepEqual(dropped, [3])
  const { seqs, bodies } = await session.queued()
  assert.deepEqual(seqs, [0, 1, 2, 6, 7])
  assert.deepEqual(bodies.slice(1), expectedOf(session, [partial, final, final, failure]))
})

test('a feed that lost its job queues nothing more and leaves no object', async (t) => {
  const session = await openSession(t)
  const old = await session.openFeed()
  await session.append(session.begin, noteMessage(transcript(session, 'x'.repeat(300_000))))
  const feed = await session.openFeed()
  await old.feed()
  assert.deepEqual((await session.queued()).seqs, [0])
  assert.deepEqual(await session.objects(), [])
  await feed.feed()
  assert.deepEqual((await session.queued()).seqs, [0, 1])
})
