import assert from 'node:assert/strict'
import multipart from '@fastify/multipart'
import fc from 'fast-check'
import Fastify from 'fastify'
import { readAudioPart } from '../../../src/api/bodies/receiving/multipart/audio-part.ts'
import { formOptions } from '../../../src/api/bodies/receiving/multipart/form-stream.ts'
import { AppError } from '../../../src/errors.ts'
import { ownHeaders, requestRaw } from '../../../test/support/api/hostile-requests.ts'
import { createToneWav } from '../../../test/support/audio/recordings.ts'
import { startServer } from '../../../test/support/server/start-server.ts'
import { mutated } from '../../mutations.ts'
import { fuzz } from '../../run.ts'

const recording = Buffer.from(createToneWav(0.01)).toString('latin1')

function form(...parts: [head: string, content: string][]): Buffer {
  const text = parts.map(([head, content]) => `--b\r\n${head}\r\n\r\n${content}\r\n`)
  return Buffer.from(`${text.join('')}--b--\r\n`, 'latin1')
}

const disposition = 'Content-Disposition: form-data; name='
const audio: [string, string] = [`${disposition}"audio"; filename="a.wav"`, recording]
const forms = [
  form(audio),
  form([`${disposition}"x"`, 'y'], audio, [`${disposition}"z"; filename="z"`, 'z'.repeat(300)]),
  form([
    `${disposition}audio; filename*=UTF-8''%e2%82%ac.wav\r\nContent-Type: audio/wav`,
    recording,
  ]),
  form([
    `${disposition}"audio"\r\nContent-Type: multipart/mixed; boundary=c`,
    `--c\r\n\r\n${recording}\r\n--c--`,
  ]),
  form([
    `${disposition}"audio"; filename="\\"\\\\.wav"\r\nContent-Transfer-Encoding: base64`,
    'UklGRg==',
  ]),
  form([`${disposition}"audio"; filename=""`, ''], audio),
]
const types = [
  ...['multipart/form-data; boundary=b', 'multipart/form-data; boundary="b"; charset=utf-16'],
  ...['multipart/form-data', 'multipart/form-data; boundary=', 'Multipart/Form-Data;BOUNDARY=b;x'],
].map((type) => Buffer.from(type))

/** The header has to stay a line: what breaks out of it is the concern of Node's parser. */
const type = fc
  .oneof(fc.constantFrom(...types), mutated(types))
  .map((bytes) => bytes.toString('latin1').replace(/[^\x20-\x7e]/g, ''))

const server = await startServer({ env: { STENO_MAX_FILE_BYTES: '100000' } })

/** The reader of forms alone, without anything that stores or probes. */
const parser = Fastify()
await parser.register(multipart, formOptions)
parser.post('/', async (request) => {
  let bytes = 0
  const { filename, body } = await readAudioPart(request)
  for await (const chunk of body) bytes += chunk.byteLength
  return { filename, bytes }
})
parser.setErrorHandler((error, _request, reply) =>
  reply.code(error instanceof AppError ? error.status : 599).send(String(error)),
)

async function parse(contentType: string, body: Buffer): Promise<void> {
  const headers = { 'content-type': contentType }
  const response = await parser.inject({ method: 'POST', url: '/', headers, payload: body })
  // Fastify refuses other content types before our error handler runs.
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType)) return
  assert.ok([200, 400, 413].includes(response.statusCode), response.body)
  if (response.statusCode !== 200) return
  const { filename, bytes } = response.json() as { filename: string | null; bytes: number }
  assert.ok(bytes <= body.length)
  assert.doesNotMatch(filename ?? 'none', /[\p{Cc}/\\]|^\.{0,2}$/u)
}

async function send(contentType: string, body: Buffer): Promise<void> {
  const head = `content-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n`
  const start = `POST /v2/upload HTTP/1.1\r\n${ownHeaders(server)}`
  const { status } = await requestRaw(server, `${start}${head}${body.toString('latin1')}`)
  assert.ok([200, 400, 413, 415].includes(status), `answered ${status}`)
}

/** For a valid form the whole server starts a decoder, so it gets only one in four. */
const forServer = fc.nat(3).map((number) => number === 0)

await fuzz('forms', fc.tuple(type, mutated(forms), forServer), async ([contentType, body, all]) => {
  await parse(contentType, body)
  if (all) await send(contentType, body)
})
await parser.close()
await server.close()
