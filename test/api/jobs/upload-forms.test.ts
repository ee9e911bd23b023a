import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { receiveScheduler } from '../../../src/storage/objects/receive-scheduler.ts'
import { ownHeaders, requestRaw } from '../../support/api/hostile-requests.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type Uploaded } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

/** One byte per character, as the requests below are written. */
const recording = Buffer.from(createToneWav(0.2)).toString('latin1')
const END = '--b--\r\n'

let server: TestServer

before(async () => {
  server = await startServer()
})
after(async () => {
  assert.equal((await call(server, '/health')).status, 200, 'the server outlives every test')
  await server.close()
})

function send(body: string, type = 'multipart/form-data; boundary=b') {
  const head = `content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`
  return requestRaw(server, `POST /v2/upload HTTP/1.1\r\n${ownHeaders(server)}${head}${body}`)
}

/** A part of a form; `more` are further header lines. */
function part(disposition: string, content = recording, more = ''): string {
  return `--b\r\ncontent-disposition: form-data; ${disposition}\r\n${more}\r\n${content}\r\n`
}

const audio = part('name="audio"; filename="a.wav"')

const types: [type: string, status: number][] = [
  ['multipart/form-data; boundary=b', 200],
  ['multipart/form-data; boundary="b"', 200],
  ['Multipart/Form-Data; BOUNDARY=b', 200],
  ['multipart/form-data; charset=utf-8; boundary=b', 200],
  ['multipart/form-data', 400],
  ['multipart/form-data; boundary=', 400],
  ['multipart/form-data; boundary=""', 400],
  ['multipart/form-data; boundary=c', 400],
  [`multipart/form-data; boundary=${'b'.repeat(5000)}`, 400],
  ['multipart/mixed; boundary=b', 415],
  ['multipart/related; boundary=b', 415],
  ['multipart/', 415],
]
for (const [type, status] of types) {
  test(`a form of type ${type.slice(0, 60)} gets ${status}`, async () => {
    assert.equal((await send(audio + END, type)).status, status)
  })
}

test('a compressed form gets 415', async () => {
  const type = 'multipart/form-data; boundary=b\r\ncontent-encoding: '
  assert.equal((await send(audio + END, `${type}identity`)).status, 200)
  assert.equal((await send(audio + END, `${type}gzip`)).status, 415)
})

const broken: [title: string, body: string, status: number][] = [
  ['has no closing boundary', audio, 400],
  [
    'ends after the headers of its part',
    '--b\r\ncontent-disposition: form-data; name="audio"\r\n\r\n',
    400,
  ],
  ['ends within the headers of its part', '--b\r\ncontent-dispo', 400],
  ['is only its end', END, 400],
  ['is nothing', '', 400],
  ['has two parts audio', audio + audio + END, 400],
  ['has an empty part audio', part('name="audio"; filename="a.wav"', '') + END, 400],
  ['has a part audio of text', part('name="audio"', 'hello') + END, 415],
  ['has a part without a name', part('filename="a.wav"') + END, 400],
  ['has a part without a disposition', `--b\r\nx: y\r\n\r\n${recording}\r\n${END}`, 400],
  [
    'has a file name of two lines',
    part('name="audio"; filename*=UTF-8\'\'a%0d%0ab.wav') + END,
    400,
  ],
  ['has a quote that does not end', part('name="audio; filename="a.wav') + END, 400],
  ['ends its lines with line feeds', (audio + END).replaceAll('\r\n', '\n'), 400],
  [
    'holds another form',
    part('name="audio"', `--c\r\n${audio}--c--`, 'content-type: multipart/mixed; boundary=c\r\n') +
      END,
    400,
  ],
  [
    'holds another form of parts that are called otherwise',
    part(
      'name="audio"',
      `--c\r\nx: y\r\n\r\n${recording}\r\n--c--`,
      'content-type: multipart/mixed; boundary=c\r\n',
    ) + END,
    415,
  ],
]
for (const [title, body, status] of broken) {
  test(`a form that ${title} gets ${status}`, async () => {
    assert.equal((await send(body)).status, status)
  })
}

const taken: [title: string, body: string][] = [
  ['with text around it', `hello\r\n${audio}${END}goodbye`],
  ['without a file name', part('name="audio"') + END],
  ['without quotes', part('name=audio; filename=a.wav') + END],
  [
    'with a header of 100 kB in its part',
    part('name="audio"', recording, `x: ${'y'.repeat(100_000)}\r\n`) + END,
  ],
  [
    'with thousands of headers in its part',
    part('name="audio"', recording, 'x: y\r\n'.repeat(5000)) + END,
  ],
  [
    'with a content type that is none',
    part('name="audio"', recording, 'content-type: \u0000;;=\r\n') + END,
  ],
]
for (const [title, body] of taken) {
  test(`a form ${title} is accepted`, async () => {
    assert.equal((await send(body + END)).status, 200)
  })
}

test('a form with too many parts gets 413', async () => {
  const parts = (count: number) => part('name="x"', 'y').repeat(count) + audio + END
  assert.equal((await send(parts(499))).status, 200)
  for (const count of [500, 10_000]) {
    const { status, content } = await send(parts(count))
    assert.equal(status, 413)
    assert.match(content, /more than 500 parts/)
  }
  const after = part('name="x"', 'y').repeat(10_000)
  assert.equal((await send(audio + after + END)).status, 413)
})

const names: [parameters: string, name: string][] = [
  ["filename*=UTF-8''%e2%82%ac%20rates.wav", '€ rates.wav'],
  ["filename*=iso-8859-1'en'%A3.wav", '£.wav'],
  ["filename*=x-unknown''%A3.wav", '\ufffd.wav'],
  ["filename*=UTF-8''%zz%.wav", '%zz%.wav'],
  ["filename*=UTF-8''..%2f..%5cetc%2fa.wav", 'a.wav'],
  ['filename="a\\"b.wav"', 'a"b.wav'],
  ['filename="a%0d%0ab.wav"', 'ab.wav'],
  ['filename="a%22b%25.wav"', 'a"b%25.wav'],
  ['filename="a\u0000b.wav"', 'ab.wav'],
  ['filename="\u00e2\u0082\u00ac.wav"', '€.wav'],
  ['filename="\u00e4.wav"', '\ufffd.wav'],
  ['filename="=?utf-8?B?R2VzcHLDpGNoLndhdg==?="', 'Gespräch.wav'],
  [
    'filename="=?utf-8?B?R2VzcHLDpGNoLndhdg==?="; filename*=utf-8\'\'Gespr%C3%A4ch.wav',
    'Gespräch.wav',
  ],
  ['filename="=?utf-8?B?.wav"', '=?utf-8?B?.wav'],
  ['filename="=?UTF-8?Q?Gespr=C3=A4ch_100%25_=3D.wav?="', 'Gespräch 100%25 =.wav'],
  ['filename="caf%C3%A9%25.wav"', 'caf%C3%A9%25.wav'],
  ['filename="/"', 'ID.wav'],
  ['filename=".."', 'ID.wav'],
]
for (const [parameters, name] of names) {
  test(`a file named by ${JSON.stringify(parameters)} is called ${name}`, async () => {
    const { status, content } = await send(part(`name="audio"; ${parameters}`) + END)
    assert.equal(status, 200, content)
    const { id, filename } = (JSON.parse(content) as Uploaded).audio_metadata
    assert.equal(filename.replace(id, 'ID'), name)
    const headers = { 'x-service-key': server.key }
    const file = await fetch(`${server.url}/file/${id}`, { headers })
    assert.equal((await file.arrayBuffer()).byteLength, recording.length)
  })
}

const aiohttpNames: [filename: string, name: string][] = [
  ['caf%C3%A9%20100%2525.wav', 'café 100%25.wav'],
  ['a%22%2F..%2F%0d%0ab.wav', 'b.wav'],
  ['%C3%zz.wav', '%C3%zz.wav'],
  ['%C3.wav', '\ufffd.wav'],
  ['100%25 of it.wav', '100%25 of it.wav'],
]
for (const [filename, name] of aiohttpNames) {
  test(`a file that aiohttp names ${filename} is called ${name}`, async () => {
    const form = part(`name="audio"; filename="${filename}"`) + END
    const type = 'multipart/form-data; boundary=b\r\nuser-agent: Python/3.11 aiohttp/3.14.5'
    const { content } = await send(form, type)
    assert.equal((JSON.parse(content) as Uploaded).audio_metadata.filename, name)
  })
}

test("each chunk of a form waits for the account's turn to write", async (t) => {
  const { mock } = t.mock.method(receiveScheduler, 'next')
  assert.equal((await send(audio + END)).status, 200)
  assert.ok(mock.calls.length > 0 && mock.calls.every((one) => one.arguments[0] === 'test'))
})
