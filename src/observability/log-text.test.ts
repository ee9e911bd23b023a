import assert from 'node:assert/strict'
import test from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { readConfig } from '../config/config.ts'
import { createServerLog } from './log.ts'
import { formatLogLine } from './log-text.ts'

const line = (fields: object) =>
  JSON.stringify({ level: 40, time: '2026-01-02T03:04:05Z', ...fields })
const formatted = (fields: object) => stripVTControlCharacters(formatLogLine(line(fields)))

test('a log line shows time, level, message and fields', () => {
  const text = formatted({ module: 'jobs', id: 'a b', n: 3, msg: 'the job failed' })
  assert.match(text, /^\d\d:\d\d:\d\d warn {2}the job failed module=jobs id="a b" n=3\n$/)
})

test('the stack of an error follows on separate lines', () => {
  const err = { type: 'Error', message: 'no disk', stack: 'Error: no disk\n    at a.ts:1:2' }
  const text = formatted({ msg: 'failed', err })
  assert.match(text, /failed error="no disk"\n {4}at a\.ts:1:2\n$/)
})

test('control characters are replaced', () => {
  assert.match(formatted({ msg: 'a\u001b[2Jb\u202ec', name: 'x\u0007' }), /a\?\[2Jb\?c name=x\?\n$/)
})

test('lines have no colors with NO_COLOR', (t) => {
  const { env } = process
  t.after(() => {
    process.env = env
  })
  process.env = { NO_COLOR: '1' }
  assert.match(formatLogLine(line({ msg: 'x' })), /^\d\d:\d\d:\d\d warn {2}x\n$/)
})

test('a line that is not JSON is kept unchanged', () => {
  assert.equal(formatLogLine('Error: out of memory\n'), 'Error: out of memory\n')
})

test('STENO_LOG_FORMAT=text hides secrets too', () => {
  const config = readConfig({ STENO_LOG_FORMAT: 'text', STENO_API_KEYS: 'a:a-configured-key' })
  let text = ''
  const destination = {
    write(written: string) {
      text += written
    },
  }
  createServerLog(config, { destination }).info({ note: 'got a-configured-key' }, 'hello')
  assert.match(text, / info {2}hello note="got \[hidden\]"\n$/)
})
