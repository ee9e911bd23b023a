import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachment } from './send-file.ts'

test('a plain file name is quoted in Content-Disposition', () => {
  assert.equal(attachment('call 0412.mp3'), 'attachment; filename="call 0412.mp3"')
})

test('a file name with special characters is sent as ASCII and in UTF-8 encoding', () => {
  assert.equal(
    attachment('Gespräch "1" (a).mp3'),
    `attachment; filename="Gespr_ch _1_ (a).mp3"; filename*=UTF-8''Gespr%C3%A4ch%20%221%22%20%28a%29.mp3`,
  )
})

test('a file name cannot inject a header or break the encoding', () => {
  for (const name of ['a\r\nset-cookie: b', 'a\u0000b', '\ud800.mp3', '"; filename="c', 'a\\']) {
    assert.match(
      attachment(name),
      /^attachment; filename="[ !#-[\]-~]*"; filename\*=UTF-8''[\w%.~-]*$/,
    )
  }
})

test('bidirectional control characters are removed from file names', () => {
  assert.equal(attachment('a\u202egnp.exe\u2066.srt'), 'attachment; filename="agnp.exe.srt"')
})

test('a very long file name is truncated at its start', () => {
  assert.equal(
    attachment(`${'x'.repeat(100_000)}.mp3`).length,
    'attachment; filename=""'.length + 255,
  )
})
