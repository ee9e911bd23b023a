import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createMemorySessionStore } from '../../../test/support/live/stores/memory-session-store.ts'
import { createLog, type Log } from '../../observability/log.ts'
import type { Envelope } from '../../text/result/steps/envelope.ts'
import { viewLiveUtterance } from '../../transcript/utterance-view.ts'
import { Journal } from '../journal/journal.ts'
import { formatLogRecord, type LogRecord, parseLogRecord } from '../journal/log-records.ts'
import { type AlreadySent, recoverSession } from '../journal/session-recovery.ts'
import { MessageOutbox } from './message-outbox.ts'
import { MessagePublisher } from './message-publisher.ts'
import type { RealtimeHook } from './realtime-add-ons.ts'
import type { Routing } from './server-messages.ts'

const found: Envelope = {
  success: true,
  is_empty: true,
  exec_time: 0,
  error: null,
  results: ['yes'],
}

/** Returns an add-on that responds in the given number of messages. */
function hook(type: RealtimeHook['type'], run: RealtimeHook['run'], times = 1): RealtimeHook {
  return {
    type,
    group: 'own',
    ...(run && { run }),
    messages(envelope) {
      const error = envelope?.error ?? null
      return Array.from({ length: times }, () => ({ type, error, data: null }))
    },
  }
}

const entities = hook('named_entity_recognition', async () => found)
const broken = hook('sentiment_analysis', async () => {
  throw new Error('out of moods')
})
const routing: Routing = {
  isForSocket: ({ type }) => type !== 'translation',
  isForCallback: () => false,
}

/** Returns what a process that finds this log considers sent. */
async function readSent(records: readonly LogRecord[]): Promise<AlreadySent> {
  const store = createMemorySessionStore({
    audio: Buffer.alloc(0),
    lines: records.map(formatLogRecord),
  })
  const reading = {
    routing,
    addOnGroups: ['own', 'services'] as const,
    keepSeconds: 0,
    maxMissed: 9,
  }
  return (await recoverSession(store, reading)).sent
}

type Options = { hooks: readonly RealtimeHook[]; earlier?: readonly LogRecord[]; log?: Log }

/** Opens a publisher, and collects what it logs. */
async function openPublisher({ hooks, earlier = [], log = createLog('silent') }: Options) {
  const store = createMemorySessionStore()
  const leaving = new AbortController()
  const { signal } = leaving
  const journal = new Journal({ store, log, signal })
  const outbox = new MessageOutbox({
    sessionId: 'one',
    routing,
    journal,
    warn: assert.fail,
    maxMissed: 9,
    earlier: undefined,
  })
  const seconds = () => 9
  const sent = await readSent(earlier)
  const publisher = new MessagePublisher({ outbox, journal, hooks, sent, seconds, log, signal })
  return {
    publisher,
    leave: () => leaving.abort(),
    /** What is logged while add-ons may still be at work. */
    async stored() {
      await turn()
      await journal.flushed()
      return store.stored.lines.map(parseLogRecord)
    },
    async noted() {
      await publisher.addOnsDone()
      await journal.flushed()
      return store.stored.lines.map(parseLogRecord)
    },
  }
}

const words = [{ text: 'yes', start: 1, end: 2, confidence: 1 }]
const view = viewLiveUtterance({ channel: 0, language: 'en', words }, { start: 1, end: 2 })
const final = { type: 'final', channel: 0, number: 3, view } as const

/** Returns the kinds of records, messages by their types. */
function kindsOf(records: readonly LogRecord[]): string[] {
  return records.map((one) => (one.kind === 'message' ? JSON.parse(one.text).type : one.kind))
}

/** Returns what a process logs of an utterance that `hooks` process. */
async function undisturbed(hooks: readonly RealtimeHook[]): Promise<LogRecord[]> {
  const { publisher, noted } = await openPublisher({ hooks })
  publisher.recognized(final)
  return noted()
}

test('an utterance is logged with its final, and earlier messages are sent', async () => {
  const records = await undisturbed([entities])
  assert.deepEqual(kindsOf(records), [
    'transcript',
    'utterance',
    'found',
    'named_entity_recognition',
  ])
  assert.deepEqual(records[1], {
    kind: 'utterance',
    utterance: { channel: 0, number: 3, text: JSON.stringify(view) },
  })
  assert.deepEqual(records[2], {
    kind: 'found',
    found: { channel: 0, number: 3, results: { named_entity_recognition: found } },
  })
})

test('a failing add-on reports its error and does not block others', async () => {
  const records = await undisturbed([broken, entities])
  assert.deepEqual(kindsOf(records).slice(3), ['sentiment_analysis', 'named_entity_recognition'])
  const [failure] = records.flatMap((one) => (one.kind === 'message' ? [one.text] : [])).slice(1)
  const { error, data } = JSON.parse(failure!)
  assert.deepEqual([error.status_code, error.exception, data], [500, 'InternalError', null])
})

test('an add-on aborted by suspend is not logged as failed', async () => {
  const log = { error: assert.fail } as unknown as Log
  const { publisher, leave, noted } = await openPublisher({ hooks: [broken], log })
  publisher.recognized(final)
  leave()
  assert.deepEqual(kindsOf(await noted()), ['transcript'])
})

test('after a kill at any point the next process sends only the missing messages', async () => {
  const unselected = hook('translation', undefined, 2)
  const hooks = [unselected, entities, hook('sentiment_analysis', async () => found, 3)]
  const all = await undisturbed(hooks)
  assert.equal(all.length, 7)
  for (let kept = 1; kept <= all.length; kept++) {
    const earlier = all.slice(0, kept)
    const { publisher, noted } = await openPublisher({ hooks, earlier })
    publisher.resume()
    publisher.recognized(final)
    const rest = await noted()
    assert.deepEqual(kindsOf([...earlier, ...rest]), kindsOf(all), `after ${kept}`)
  }
})

test('no partial follows the final of its utterance, even after a restart', async () => {
  const all = await undisturbed([])
  assert.deepEqual(kindsOf(all), ['transcript', 'utterance'])
  for (const kept of [1, 2]) {
    const { publisher, noted } = await openPublisher({ hooks: [], earlier: all.slice(0, kept) })
    publisher.resume()
    publisher.recognized({ ...final, type: 'partial' })
    publisher.recognized(final)
    assert.deepEqual(kindsOf(await noted()), kindsOf(all).slice(kept), `after ${kept}`)
  }
})

test('slow services do not delay other add-ons, and are resumed after a restart', async () => {
  const answered = Promise.withResolvers<void>()
  const slow: RealtimeHook = {
    ...hook('sentiment_analysis', async () => {
      await answered.promise
      return found
    }),
    group: 'services',
  }
  const hooks = [slow, entities]
  const { publisher, stored } = await openPublisher({ hooks })
  publisher.recognized(final)
  const before = await stored()
  assert.deepEqual(kindsOf(before), [
    'transcript',
    'utterance',
    'found',
    'named_entity_recognition',
  ])
  answered.resolve()
  for (let kept = 1; kept <= before.length; kept++) {
    const next = await openPublisher({ hooks, earlier: before.slice(0, kept) })
    next.publisher.resume()
    next.publisher.recognized(final)
    const all = kindsOf([...before.slice(0, kept), ...(await next.noted())])
    const expected = [...kindsOf(before), 'found', 'sentiment_analysis']
    assert.deepEqual(all.toSorted(), expected.toSorted(), `after ${kept}`)
  }
})

test('an answer of a service is neither requested nor sent twice after restarts', async () => {
  let asked = 0
  const translating: RealtimeHook = {
    ...hook('sentiment_analysis', async ({ memoize }) => {
      // As for two languages, each of which is a request.
      for (const to of ['fr', 'de']) await memoize({ to }, async () => `${to} ${++asked}`)
      return found
    }),
    group: 'services',
  }
  const hooks = [translating, entities]
  const all = await undisturbed(hooks)
  assert.equal(kindsOf(all).filter((kind) => kind === 'answer').length, 2)
  for (let kept = 1; kept <= all.length; kept++) {
    const earlier = all.slice(0, kept)
    const known = earlier.filter(({ kind }) => kind === 'answer').length
    asked = 0
    const { publisher, noted } = await openPublisher({ hooks, earlier })
    publisher.resume()
    publisher.recognized(final)
    const rest = kindsOf([...earlier, ...(await noted())])
    assert.deepEqual(rest.toSorted(), kindsOf(all).toSorted(), `after ${kept}`)
    assert.equal(asked, 2 - known, `after ${kept}`)
  }
})

test('service results keep the order of utterances within a channel', async () => {
  const responses = [0, 1].map(() => Promise.withResolvers<void>())
  const slow: RealtimeHook = {
    ...hook('sentiment_analysis', async ({ id }) => {
      if (id.startsWith('00')) await responses[Number(id.slice(-1)) - 3]!.promise
      return { ...found, results: [id] }
    }),
    group: 'services',
  }
  const { publisher, stored, noted } = await openPublisher({ hooks: [slow] })
  publisher.recognized(final)
  publisher.recognized({ ...final, number: 4 })
  // Other channels do not wait.
  publisher.recognized({ ...final, channel: 1, number: 5 })
  responses[1]!.resolve()
  const idsOf = (records: readonly LogRecord[]) => {
    return records.flatMap((one) => (one.kind === 'found' ? [one.found.number] : []))
  }
  assert.deepEqual(idsOf(await stored()), [5])
  responses[0]!.resolve()
  assert.deepEqual(idsOf(await noted()), [5, 3, 4])
})
