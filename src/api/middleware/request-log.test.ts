import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog, type Log } from '../../observability/log.ts'
import { requestLog } from './request-log.ts'

function open(level: string) {
  const lines: Record<string, unknown>[] = []
  const log = createLog(level, { destination: { write: (line) => lines.push(JSON.parse(line)) } })
  let children = 0
  const child: Log['child'] = (...of) => {
    children++
    return log.child(...of)
  }
  const counted = Object.assign(Object.create(log), { child }) as Log
  return { log: requestLog(counted, { requestId: 'G-1' }), lines, children: () => children }
}

test('a request log creates its child logger once, with the first line it writes', () => {
  const { log, lines, children } = open('info')
  log.debug('left out')
  const known = log.child({ account: 'a' })
  assert.equal(children(), 0)
  known.info({ status: 200 }, 'answered')
  known.error('failed')
  assert.equal(children(), 1)
  assert.deepEqual(
    lines.map(({ time, ...line }) => line),
    [
      { level: 30, requestId: 'G-1', account: 'a', status: 200, msg: 'answered' },
      { level: 50, requestId: 'G-1', account: 'a', msg: 'failed' },
    ],
  )
})
