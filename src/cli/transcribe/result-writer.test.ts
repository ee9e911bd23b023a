import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import type { Format } from './formats.ts'
import { readRecording } from './input-files.ts'
import { createResultWriter, type FormattedResult } from './result-writer.ts'

function written(format: Format, results: readonly [string, FormattedResult][]): string {
  const stdout = new PassThrough()
  const writer = createResultWriter(stdout, { format, hasMany: results.length > 1 })
  for (const [name, result] of results) writer.write(readRecording(name), result)
  writer.end()
  return String(stdout.read() ?? '')
}

test('json of several recordings is an array with their names and errors', () => {
  const text = written('json', [
    ['x/a.mp3', { text: '{\n  "metadata": 1\n}\n' }],
    ['y/a.mp3', { error: 'Cannot read "it"' }],
    ['https://x.test/a.mp3', { text: '{}\n' }],
  ])
  assert.deepEqual(JSON.parse(text), [
    { file: 'x/a.mp3', result: { metadata: 1 } },
    { file: 'y/a.mp3', error: 'Cannot read "it"' },
    { file: 'https://x.test/a.mp3', result: {} },
  ])
})

test('one recording is written unchanged, and several texts below their names', () => {
  assert.equal(written('json', [['a.mp3', { text: '{}\n' }]]), '{}\n')
  assert.equal(written('json', [['a.mp3', { error: 'gone' }]]), '')
  const texts: [string, FormattedResult][] = [
    ['a.mp3', { text: 'hello\n' }],
    ['b.mp3', { error: 'gone' }],
  ]
  assert.equal(written('txt', texts), '==> a.mp3 <==\nhello\n')
})
