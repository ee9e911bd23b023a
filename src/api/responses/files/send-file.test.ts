import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachment } from './send-file.ts'

test('a plain file name stands in quotes', () => {
  assert.equal(attachment('call 0412.mp3'), 'attachment; filename="call 0412.mp3"')
})

test('a file name that a quoted string cannot hold is given twice, the exact one encoded', () => {
  assert.equal(
    attachment('Gespräch "1" (a).mp3'),
    `attachment; filename="Gespr_ch _1_ (a).mp3"; filename*=UTF-8''Gespr%C3%A4ch%20%221%22%20%28a%29.mp3`,
  )
})

test('no file name can add a header or break the encoding', () => {
  for (const name of ['a\r\nset-cookie: b', 'a\u0000b', '\ud800.mp3', '"; filename="c', 'a\\']) {
    assert.match(
      attachment(name),
      /^attachment; filename="[ !#-[\]-~]*"; filename\*=UTF-8''[\w%.~-]*$/,
    )
  }
})

test('no file name seems to end in what it does not', () => {
  assert.equal(attachment('a\u202egnp.exe\u2066.srt'), 'attachment; filename="agnp.exe.srt"')
})

test('of an endless file name the end is kept', () => {
  assert.equal(
    attachment(`${'x'.repeat(100_000)}.mp3`).length,
    'attachment; filename=""'.length + 255,
  )
})
