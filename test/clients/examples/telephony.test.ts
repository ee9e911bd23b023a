import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { WebSocket } from 'ws'
import { postEvents } from '../../../examples/telephony/post-events.ts'
import {
  type CallEvent,
  createTelephonyServer,
  type TelephonyOptions,
} from '../../../examples/telephony/stream-server.ts'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { deleteKey } from '../../../src/storage/accounts/keys.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { openReceiver } from '../../support/delivery/receiver.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello there') })
})
after(() => server.close())

const CHUNK_BYTES = 160
const wav = readFileSync(join(import.meta.dirname, '../../fixtures/encodings/mulaw.wav'))
/** Seconds of speech in mu-law at 8 kHz. */
const speech = wav.subarray(wav.indexOf('data') + 8)
const silence = Buffer.alloc(speech.length, 0xff)

/** Starts the adapter; `events` are what it told, and `until` waits for the end of a call. */
async function startAdapter(t: TestContext, options: Partial<TelephonyOptions> = {}) {
  const events: CallEvent[] = []
  const errors: string[] = []
  let wake = () => {}
  const onEvent = (event: CallEvent) => {
    events.push(event)
    wake()
  }
  const onError = (message: string) => errors.push(message)
  const adapter = createTelephonyServer({ server, onEvent, onError, ...options })
  adapter.listen(0, '127.0.0.1')
  await once(adapter, 'listening')
  t.after(() => adapter.close())
  const { port } = adapter.address() as AddressInfo
  return {
    events,
    errors,
    url: `ws://127.0.0.1:${port}/media?from=test`,
    async ended(stream: string): Promise<CallEvent & { type: 'end' }> {
      for (;;) {
        const found = events.find((event) => event.type === 'end' && event.stream === stream)
        if (found) return found as CallEvent & { type: 'end' }
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
    },
    textOf(stream: string, track: string): string {
      const texts = events.map((event) => {
        const isSaid = event.type === 'transcript' && event.stream === stream
        return isSaid && event.track === track ? event.text : ''
      })
      return texts.filter((text) => text !== '').join(' ')
    },
  }
}

/** Streams a call as a provider does. */
async function openStream(t: TestContext, url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers })
  t.after(() => socket.terminate())
  const closed = once(socket, 'close') as Promise<[number]>
  closed.catch(() => {})
  await once(socket, 'open')
  const send = (message: object) => socket.send(JSON.stringify(message))
  return {
    socket,
    closed,
    send,
    start(streamSid: string, tracks = ['inbound'], sampleRate = 8000) {
      const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate, channels: 1 }
      send({ event: 'connected', protocol: 'Call', version: '1.0.0' })
      const start = { streamSid, callSid: `CA-${streamSid}`, tracks, mediaFormat }
      send({ event: 'start', sequenceNumber: '1', start, streamSid })
    },
    media(tracks: Record<string, Buffer>) {
      for (let at = 0; at < speech.length; at += CHUNK_BYTES) {
        for (const [track, audio] of Object.entries(tracks)) {
          const payload = audio.subarray(at, at + CHUNK_BYTES).toString('base64')
          send({ event: 'media', media: { track, timestamp: String(at / 8), payload } })
        }
      }
      send({ event: 'mark', mark: { name: 'x' } })
    },
    stop: () => send({ event: 'stop', stop: {} }),
  }
}

test('both tracks of a call are transcribed as separate channels', async (t) => {
  const adapter = await startAdapter(t, { language: 'en' })
  const stream = await openStream(t, adapter.url)
  stream.start('MZ1', ['inbound', 'outbound'])
  stream.media({ inbound: silence, outbound: speech })
  stream.stop()
  assert.equal((await stream.closed)[0], 1000)
  const { session, call: id, error } = await adapter.ended('MZ1')
  assert.deepEqual([id, error], ['CA-MZ1', null])
  assert.match(adapter.textOf('MZ1', 'outbound'), /hello there/)
  assert.equal(adapter.textOf('MZ1', 'inbound'), '')
  type Job = { request_params: Record<string, unknown>; custom_metadata: object; file: object }
  const { body } = await call<Job>(server, `/v2/live/${session}`)
  assert.deepEqual(body.custom_metadata, { call: 'CA-MZ1', stream: 'MZ1' })
  const { encoding, sample_rate: rate, channels } = body.request_params
  assert.deepEqual([encoding, rate, channels], ['wav/ulaw', 8000, 2])
  const { audio_duration: seconds } = body.file as { audio_duration: number }
  assert.ok(Math.abs(seconds - speech.length / 8000) < 0.1, `${seconds} s`)
})

test('concurrent calls are independent, and an interrupted one keeps its text', async (t) => {
  const adapter = await startAdapter(t)
  const streams = await Promise.all([1, 2].map(() => openStream(t, adapter.url)))
  for (const [i, stream] of streams.entries()) {
    stream.start(`MZ${i}`)
    stream.media({ inbound: speech })
  }
  streams[0]!.stop()
  streams[1]!.socket.close()
  for (const stream of ['MZ0', 'MZ1']) {
    assert.equal((await adapter.ended(stream)).error, null)
    assert.match(adapter.textOf(stream, 'inbound'), /hello there/)
  }
})

test('with a secret only streams signed by the provider are accepted', async (t) => {
  const token = 'a secret'
  const publicUrl = 'wss://calls.example.com'
  const sign = (url: string) => {
    const given = createHmac('sha1', token).update(url).digest('base64')
    return { 'x-twilio-signature': given }
  }
  const behindProxy = await startAdapter(t, { token, publicUrl })
  const path = new URL(behindProxy.url).pathname + new URL(behindProxy.url).search
  await openStream(t, behindProxy.url, sign(publicUrl + path))
  for (const headers of [{}, sign(behindProxy.url), sign(`${publicUrl}/other`)]) {
    await assert.rejects(openStream(t, behindProxy.url, headers), /403/)
  }
  assert.equal(behindProxy.errors.length, 3)
  const direct = await startAdapter(t, { token })
  await openStream(t, direct.url, sign(direct.url.replace('ws:', 'wss:')))
})

test('invalid streams are closed with a reason', async (t) => {
  const adapter = await startAdapter(t)
  const wrong: [(stream: Awaited<ReturnType<typeof openStream>>) => void, number, RegExp][] = [
    [({ socket }) => socket.send('nonsense'), 1007, /without a start: A message is not JSON/],
    [(stream) => stream.start('MZ1', ['inbound'], 16_000), 1007, /8000 Hz/],
    [({ socket }) => socket.send('x'.repeat(65_537)), 1009, /^$/],
  ]
  for (const [act, code, expected] of wrong) {
    const stream = await openStream(t, adapter.url)
    act(stream)
    assert.equal((await stream.closed)[0], code)
    assert.match(adapter.errors.pop() ?? '', expected)
  }
  const away = await startAdapter(t, { server: { url: 'http://127.0.0.1:1', key: 'k' } })
  const stream = await openStream(t, away.url)
  stream.start('MZ2')
  assert.equal((await stream.closed)[0], 1011)
  assert.match(away.errors[0]!, /^Call CA-MZ2: Cannot reach the server/)
  const http = await fetch(adapter.url.replace('ws', 'http'))
  assert.equal(http.status, 426)
})

test('a failed session ends its call with the reason', async (t) => {
  const { db } = server.app.storage
  const { key } = await generateKey(db, { account: 'test' })
  const adapter = await startAdapter(t, { server: { ...server, key } })
  const stream = await openStream(t, adapter.url)
  stream.start('MZ1')
  stream.media({ inbound: speech })
  while (adapter.textOf('MZ1', 'inbound') === '') await setImmediate()
  assert.ok(await deleteKey(db, key.slice(0, 'steno_'.length + 8)))
  await server.app.live.endRevoked()
  assert.match((await adapter.ended('MZ1')).error!, /closed with 4401 token or key unknown/)
  assert.equal((await stream.closed)[0], 1011)
})

test('events are posted in order, and a failing receiver is reported', async (t) => {
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  const errors = Promise.withResolvers<string>()
  const post = postEvents(`${receiver.url}/calls`, errors.resolve)
  for (let i = 0; i < 5; i++) post({ i })
  await receiver.until('/calls', 5)
  assert.deepEqual(
    receiver.at('/calls').map(({ body }) => JSON.parse(body).i),
    [0, 1, 2, 3, 4],
  )
  postEvents('http://127.0.0.1:1/', errors.resolve)({})
  assert.equal(await errors.promise, 'Cannot reach http://127.0.0.1:1/')
})

test('the telephony program shows its options', async () => {
  const file = join(import.meta.dirname, '../../../examples/telephony/main.ts')
  const flags = ['--disable-warning=ExperimentalWarning', file]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--help'])
  assert.match(stdout, /TWILIO_AUTH_TOKEN/)
  const wrong = [...flags, '--key', 'k', '--post', 'nowhere']
  await assert.rejects(promisify(execFile)(process.execPath, wrong), { code: 2 })
})
