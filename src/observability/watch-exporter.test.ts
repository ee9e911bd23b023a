import assert from 'node:assert/strict'
import test from 'node:test'
import { captureLog } from '../../test/support/server/captured-log.ts'
import { watchExporter } from './watch-exporter.ts'

test('an unavailable collector is logged once, and its return once', () => {
  const { log, lines } = captureLog()
  let fails = false
  const reported: number[] = []
  const exporter = watchExporter(
    {
      export: (_spans, done) =>
        done(fails ? { code: 1, error: new Error('no route') } : { code: 0 }),
      shutdown: async () => {},
    },
    log,
  )
  for (const now of [false, true, true, false, false, true]) {
    fails = now
    exporter.export([], ({ code }) => reported.push(code))
  }
  assert.deepEqual(reported, [0, 1, 1, 0, 0, 1], 'each export is reported to its caller')
  const [gone, back] = ['cannot send traces, dropping them', 'sending traces again']
  assert.deepEqual(
    lines.map(({ msg, reason }) => [msg, reason]),
    [
      [gone, 'no route'],
      [back, undefined],
      [gone, 'no route'],
    ],
  )
})
