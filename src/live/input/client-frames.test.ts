import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../test/support/random/rounds.ts'
import { type ClientFrame, readFrame } from './client-frames.ts'

const read = (text: string) => readFrame(Buffer.from(text), false)
const chunk = (base64: unknown) =>
  read(JSON.stringify({ type: 'audio_chunk', data: { chunk: base64 } }))

function audioOf(frame: ClientFrame): Buffer {
  assert.equal(frame.type, 'audio', JSON.stringify(frame))
  return Buffer.from(frame.type === 'audio' ? frame.bytes : [])
}

function assertRefused(frame: ClientFrame, message: string) {
  const refused = { type: 'refused', status: 400, exception: 'InvalidChunk', message }
  assert.deepEqual(frame, refused)
}

test('a binary frame is audio, whatever it contains', () => {
  for (const bytes of [Buffer.from('{"type":"stop_recording"}'), Buffer.alloc(0)]) {
    assert.deepEqual(readFrame(bytes, true), { type: 'audio', bytes })
  }
})

test('the audio of a chunk does not depend on the formatting of its message', () => {
  const forms: ((text: string) => string)[] = [
    (text) => `{"type":"audio_chunk","data":{"chunk":${text}}}`,
    (text) => `{"type": "audio_chunk", "data": {"chunk": ${text}}}`,
    (text) => ` {\n\t"type" : "audio_chunk" ,\r\n "data" : { "chunk" : ${text} } } \n`,
    (text) => `{"data":{"chunk":${text}},"type":"audio_chunk"}`,
    (text) => `{"type":"audio_chunk","data":{"chunk":${text},"n":7},"at":{"chunk":"x"}}`,
    (text) => `{"type":"audio_chunk","data":{"chunk":${text.replaceAll('/', '\\/')}}}`,
    (text) => `{"type":"audio_chunk","data":{"chunk":${text.replaceAll('A', '\\u0041')}}}`,
    (text) => `{"type":"audio_chunk","data":{"chunk":"////"},"data":{"chunk":${text}}}`,
    (text) => `{"type":"audio_chunk","data":{"chunk":"////","chunk":${text}}}`,
    (text) => `{"type":"audio_chunk","data":{"chunk":${text}}${' '.repeat(300)}}`,
    (text) => `${' '.repeat(300)}{"type":"audio_chunk","data":{"chunk":${text}}}`,
  ]
  const audio = fc.oneof(fc.uint8Array({ maxLength: 400 }), fc.constant(Buffer.from('////')))
  fc.assert(
    fc.property(audio, fc.constantFrom(...forms), (bytes, form) => {
      const frame = read(form(`"${Buffer.from(bytes).toString('base64')}"`))
      assert.deepEqual(audioOf(frame), Buffer.from(bytes))
    }),
  )
})

test('an empty chunk is audio of zero bytes', () => {
  assert.equal(audioOf(chunk('')).length, 0)
})

test('the unused bits of the last base64 character are ignored', () => {
  assert.deepEqual(audioOf(chunk('AB==')), Buffer.from([0]))
  assert.deepEqual(audioOf(chunk('AAB=')), Buffer.from([0, 0]))
})

test('invalid base64 is rejected', () => {
  const texts = ['A', 'AA', 'AAA', 'AAAAA', 'A===', '====', '=', 'AA=A', '=AAA', 'AAAA====']
  texts.push('AA==AAAA', 'AA==AA==', 'AA A', ' AAA', 'AA\nA', 'AAA\n', 'AAAA\n', 'AAAAAAA\n')
  texts.push('AAA-', 'AAA_', 'AAA!', 'AAA\0', 'AAAé', 'A\u0141AA', '\u3041AAA', 'AA😀', '\u2028AAA')
  texts.push('AAA"', 'AAA\\', 'AAAA\\n==', '"}}', 'data:audio/wav;base64,AAAA')
  for (const text of texts) assertRefused(chunk(text), 'chunk is not valid base64')
  for (const text of ['AAAA"}}', 'AAA"}']) {
    assert.equal(read(`{"type":"audio_chunk","data":{"chunk":"${text}"}}`).type, 'unreadable')
  }
})

const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$/

test('a string is accepted as base64 exactly when it round-trips', () => {
  const letters = fc.constantFrom(...'AQgw09+/==-_ \n"\\é\u0141')
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 9 }), (list) => {
      const text = list.join('')
      const frame = chunk(text)
      if (frame.type === 'refused') {
        assert.doesNotMatch(text, BASE64)
      } else {
        const encoded = audioOf(frame).toString('base64')
        const unused = encoded.endsWith('=') ? encoded.indexOf('=') - 1 : encoded.length
        assert.equal(text.slice(0, unused), encoded.slice(0, unused))
        assert.equal(text.length, encoded.length)
      }
    }),
    { numRuns: rounds(1000) },
  )
})

test('a chunk that is missing or not a string is rejected', () => {
  for (const value of [undefined, null, 7, true, ['AAAA'], { length: 4 }]) {
    assertRefused(chunk(value), 'chunk is not a string')
  }
  for (const data of ['', ',"data":null', ',"data":"AAAA"', ',"data":[]', ',"data":["AAAA"]']) {
    assertRefused(read(`{"type":"audio_chunk"${data}}`), 'chunk is not a string')
  }
})

test('stop_recording is read whatever else the message contains', () => {
  for (const text of [
    '{"type":"stop_recording"}',
    ' {"data":{"chunk":7},"type":"stop_recording"}',
  ]) {
    assert.deepEqual(read(text), { type: 'stop' })
  }
})

test('invalid JSON and unknown message types are unreadable', () => {
  const texts = ['', ' ', '{', '[]', '"stop_recording"', 'null', '7', 'stop_recording', '\ufeff{}']
  texts.push('{"type":"audio_chunk","data":{"chunk":"AAAA"}', '{"type":"audio_chunk"}}', 'NaN')
  texts.push('{"type":"audio_chunk","data":{"chunk":"AAAA"}}}', '{type:"stop_recording"}')
  texts.push('[{"type":"stop_recording"}]', '['.repeat(65_000), '{"a":'.repeat(13_000))
  for (const text of texts) {
    const expected = { type: 'unreadable', message: 'the message is not a JSON object' }
    assert.deepEqual(read(text), expected, text.slice(0, 100))
  }
  for (const type of [undefined, null, 7, '', 'AUDIO_CHUNK', 'configure', ['stop_recording']]) {
    const expected = { type: 'unreadable', message: 'the type of the message is unknown' }
    assert.deepEqual(read(JSON.stringify({ type })), expected)
  }
  assert.equal(read('{"__proto__":{"type":"stop_recording"}}').type, 'unreadable')
})

test('a large message with many values is not parsed', () => {
  const stop = '{"type":"stop_recording"}'
  const hostile = ['['.repeat(1_000_000), '{"a":'.repeat(500_000), `[${'0,'.repeat(500_000)}0]`]
  hostile.push(`${stop.slice(0, -1)}${',"a":0'.repeat(20_000)}}`)
  for (const text of hostile) {
    const expected = { type: 'unreadable', message: 'the message has more than 1000 values' }
    assert.deepEqual(read(text), expected, text.slice(0, 100))
  }
  assert.deepEqual(read(`${stop.slice(0, -1)}${',"a":0'.repeat(999)}}`), { type: 'stop' })
  assert.deepEqual(read(`${stop.slice(0, -1)}${',"a":0'.repeat(999)}}${' '.repeat(65_536)}`), {
    type: 'stop',
  })
})

test('readFrame never throws', () => {
  const chunk = fc.constantFrom('{', '}', '"', ':', ',', '[', '\\', 'type', 'audio_chunk', 'data')
  const chunks = fc.array(fc.oneof(chunk, fc.constantFrom('"chunk"', 'AAAA', ' ', '\0', 'é', '7')))
  const usual = Buffer.from('{"type":"audio_chunk","data":{"chunk":"AAAA"}}')
  const damaged = fc.tuple(fc.nat(usual.length - 1), fc.nat(255)).map(([at, byte]) => {
    const bytes = Buffer.from(usual)
    bytes[at] = byte
    return bytes
  })
  const any = fc.oneof(
    fc.uint8Array(),
    chunks.map((list) => Buffer.from(list.join(''))),
    damaged,
  )
  fc.assert(fc.property(any, (bytes) => void readFrame(bytes, false)))
})
