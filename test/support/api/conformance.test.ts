import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { call } from '../net/http-client.ts'
import { startServer, type TestServer } from '../server/start-server.ts'
import { type CheckExchange, conformanceOf, type Exchange } from './conformance.ts'

let server: TestServer
let check: CheckExchange

before(async () => {
  server = await startServer()
  check = await conformanceOf(server)
})
after(() => server.close())

const id = '5f1d3a52-6d0f-4d8a-8c46-2b8e0b1f9a77'
const word = { word: 'Hi', start: 0.4, end: 0.6, confidence: 0.9 }
const result = {
  metadata: {
    audio_duration: 3.4,
    number_of_distinct_channels: 1,
    billing_time: 3.4,
    transcription_time: 0.8,
  },
  transcription: {
    full_transcript: 'Hi',
    languages: ['en'],
    utterances: [
      {
        start: 0.4,
        end: 0.6,
        confidence: 0.9,
        channel: 0,
        words: [word],
        text: 'Hi',
        language: 'en',
      },
    ],
  },
}
const job = {
  id,
  request_id: 'G-5f1d3a52',
  version: 2,
  status: 'done',
  created_at: '2026-03-04T05:06:07.089Z',
  completed_at: '2026-03-04T05:06:09.089Z',
  error_code: null,
  post_session_metadata: {},
  kind: 'pre-recorded',
  file: { id, filename: null, source: null, audio_duration: 3.4, number_of_channels: 1 },
  request_params: null,
  result,
}
const failure = {
  timestamp: '2026-03-04T05:06:07.089Z',
  path: '/v2/nothing',
  request_id: 'G-9c0d12ab',
  statusCode: 404,
  message: 'Cannot find the route',
}
const json = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'G-9c0d12ab' }

function exchange(changes: Partial<Exchange> = {}): Exchange {
  const path = `/v2/pre-recorded/${id}`
  return { method: 'GET', path, status: 200, headers: new Headers(json), body: job, ...changes }
}

test('a response that matches the description passes', () => {
  check(exchange())
  check(exchange({ path: `/v2/transcription/${id}/?x=1`, body: { ...job, custom_metadata: {} } }))
  check(exchange({ path: '/v2/nothing', status: 404, body: failure }))
})

const { completed_at: _, ...incomplete } = job
for (const [what, changes, message] of [
  ['an undocumented status', { status: 418 }, /answered 418, which is not in the description/],
  ['a missing key', { body: incomplete }, /required property 'completed_at'/],
  ['an undocumented field', { body: { ...job, color: 'red' } }, /additional properties.*color/],
  [
    'an undocumented field, deep inside',
    { body: { ...job, result: { ...result, chapterization: null } } },
    /\/result .*additional properties/,
  ],
  [
    'a null where the key is left out',
    { body: { ...job, custom_metadata: null } },
    /must be object/,
  ],
  ['a word that is not in its list', { body: { ...job, status: 'ready' } }, /allowed values/],
  ['a date that is none', { body: { ...job, created_at: 'today' } }, /format "date-time"/],
  ['a job of the other kind', { body: { ...job, kind: 'live' } }, /\/kind/],
  [
    'another content type',
    { headers: new Headers({ ...json, 'content-type': 'text/html' }) },
    /as text\/html/,
  ],
  [
    'an answer without its id',
    { headers: new Headers({ 'content-type': 'application/json' }) },
    /X-Request-Id/,
  ],
  ['a success that is an error', { body: failure }, /required property 'id'/],
  [
    'a route that is not there with another body',
    { path: '/v2/nothing', status: 404, body: {} },
    /'timestamp'/,
  ],
  ['a route that is not there and answers', { path: '/v2/nothing' }, /not in the description/],
  ['a method that is not there without Allow', { method: 'PUT', status: 405 }, /Allow/],
  ['a body where there is none', { method: 'DELETE', status: 202, body: 'gone' }, /with a body/],
] as const) {
  test(`${what} is a mismatch`, () => {
    assert.throws(() => check(exchange(changes as Partial<Exchange>)), message)
  })
}

test('every response of `call` is checked against the published description', async (t) => {
  const published = await fetch(`${server.url}/openapi.json`)
  const document = await published.text()
  const liar = createServer((request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('x-request-id', 'G-1')
    response.end(request.url === '/openapi.json' ? document : '{"status":"fine"}')
  }).listen(0, '127.0.0.1')
  t.after(() => liar.close())
  await once(liar, 'listening')
  const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
  await assert.rejects(call({ url, key: '' }, '/health'), /\/status must be equal to one of/)
})
