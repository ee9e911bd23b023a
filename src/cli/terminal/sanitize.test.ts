import assert from 'node:assert/strict'
import test from 'node:test'
import { sanitize, sanitizeJson, sanitizeLines } from './sanitize.ts'

const hostile = 'a\u001b[2J\u009b1m\u202eb\ud800x\u{e0041}ü'

test('control characters are replaced for the terminal', () => {
  assert.equal(sanitize(hostile), 'a?[2J?1m?b?x?ü')
})

test('line breaks are preserved when sanitizing', () => {
  assert.equal(sanitizeLines('a\u001b[2J\nb\r\n'), 'a?[2J\nb?\n')
})

test('control characters in JSON are escaped, and the value is unchanged', () => {
  const value = { text: hostile, list: [1] }
  const json = sanitizeJson(value)
  assert.doesNotMatch(json, /[^\P{C}\n]/u)
  assert.deepEqual(JSON.parse(json), value)
  assert.ok(json.startsWith('{\n  "text": "a\\u001b[2J\\u009b1m\\u202eb\\ud800x\\udb40\\udc41ü"'))
})
