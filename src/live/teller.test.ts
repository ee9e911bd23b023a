import assert from 'node:assert/strict'
import test from 'node:test'
import { createLog, type Log } from '../log.ts'
import type { RealtimeHook } from './add-ons.ts'
import { nothingTold } from './earlier-session.ts'
import { Journal } from './journal.ts'
import { Outbox } from './outbox.ts'
import { type LogRecord, readRecord } from './session-log.ts'
import { Teller } from './teller.ts'
import { viewUtterance } from './views.ts'

const broken: RealtimeHook = {
  type: 'sentiment_analysis',
  run: async () => {
    throw new Error('out of moods')
  },
}

/** A teller, and what it has noted. */
function openTeller(hooks: readonly RealtimeHook[], log: Log = createLog('silent')) {
  const records: LogRecord[] = []
  const files = {
    write: async (_sound: unknown, lines: readonly string[]) => {
      records.push(...lines.map(readRecord))
    },
    sync: async () => {},
  }
  const leaving = new AbortController()
  const { signal } = leaving
  const journal = new Journal({ files, log, signal, onBroken: assert.fail })
  const routing = { isForSocket: () => true, isForCallback: () => false }
  const outbox = new Outbox({
    sessionId: 'one',
    routing,
    journal,
    maxMissed: 9,
    earlier: undefined,
  })
  const seconds = () => 9
  const teller = new Teller({ outbox, journal, hooks, told: nothingTold(), seconds, log, signal })
  return {
    teller,
    leave: () => leaving.abort(),
    async noted() {
      await teller.addOnsDone()
      await journal.flushed()
      return records
    },
  }
}

const words = [{ text: 'yes', start: 1, end: 2, confidence: 1 }]
const view = viewUtterance(words, { channel: 0, language: 'en', span: { start: 1, end: 2 } })
const final = { type: 'final', channel: 0, number: 3, view } as const

test('an add-on that fails says so, keeps no other from its work, and the utterance in the result', async () => {
  const found = { type: 'named_entity_recognition', error: null, data: null } as const
  const other: RealtimeHook = { type: found.type, run: async () => [found] }
  const { teller, noted } = openTeller([broken, other])
  teller.heard(final)
  const records = await noted()
  const messages = records.flatMap((one) => (one.kind === 'message' ? JSON.parse(one.text) : []))
  assert.deepEqual(
    messages.map(({ type }) => type),
    ['transcript', 'sentiment_analysis', 'named_entity_recognition'],
  )
  const { error, data } = messages[1]
  assert.deepEqual([error.status_code, error.exception, data], [500, 'InternalError', null])
  assert.deepEqual(records.at(-1), {
    kind: 'utterance',
    utterance: { channel: 0, number: 3, text: JSON.stringify(view) },
  })
})

test('an add-on that ends because its session was left has not failed', async () => {
  const { teller, leave, noted } = openTeller([broken], { error: assert.fail } as unknown as Log)
  teller.heard(final)
  leave()
  assert.deepEqual((await noted()).length, 1)
})
