import assert from 'node:assert/strict'
import test from 'node:test'
import { sanitizeFileName } from './sanitize-file-name.ts'

const names: [given: string, kept: string | null][] = [
  ['talk.wav', 'talk.wav'],
  ['Gespräch 1.WAV', 'Gespräch 1.WAV'],
  ['../../etc/x.au', 'x.au'],
  ['C:\\calls\\x.au', 'x.au'],
  ['a\r\nX:y.au', 'aX:y.au'],
  ['\u0000a\u007f\u0085.au', 'a.au'],
  [' a.au ', 'a.au'],
  ['...', '...'],
  [`${'x'.repeat(300)}.wav`, `${'x'.repeat(251)}.wav`],
  [`${'x'.repeat(254)}😀`, 'x'.repeat(254)],
  ['', null],
  ['\r\n', null],
  ['calls/', null],
  ['.', null],
  ['calls/..', null],
]

test('sanitizeFileName keeps the last path segment without control characters', () => {
  for (const [given, kept] of names)
    assert.equal(sanitizeFileName(given), kept, JSON.stringify(given))
})
