import assert from 'node:assert/strict'
import test from 'node:test'
import { readConfig } from '../../config/config.ts'
import { formatStartMessage } from './start-message.ts'

const message = { url: 'http://127.0.0.1:7070', key: 'a-key', config: readConfig({}) }

test('the start message shows a shell command, or on Windows a page', () => {
  const posix = formatStartMessage({ ...message, platform: 'linux' })
  assert.match(
    posix,
    /paste this into a shell:\n\nexport STENO_KEY="a-key"\nexport STENO_URL=.*curl/s,
  )
  const windows = formatStartMessage({ ...message, platform: 'win32' })
  assert.doesNotMatch(windows, /curl|sed|shell/)
  assert.match(windows, /http:\/\/127\.0\.0\.1:7070\/docs\n$/)
  for (const text of [posix, windows]) {
    assert.match(text, /Your key, shown only once: a-key\n/)
    assert.match(text, /http:\/\/127\.0\.0\.1:7070\/guide\n/)
  }
})
