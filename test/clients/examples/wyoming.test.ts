import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { readEvents, type WyomingEvent, writeEvent } from '../../../examples/wyoming/events.ts'
import {
  createWyomingServer,
  type WyomingOptions,
} from '../../../examples/wyoming/wyoming-server.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { speech } from '../../support/live/sessions/live-session-jobs.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello there') })
})
after(() => server.close())

const FORMAT = { rate: 16_000, width: 2, channels: 1 }

/** Starts the adapter in front of the test's server; returns what connects a client to it. */
async function startAdapter(t: TestContext, options: Partial<WyomingOptions> = {}) {
  const adapter = createWyomingServer({ server, ...options }).listen(0, '127.0.0.1')
  await once(adapter, 'listening')
  t.after(() => adapter.close())
  const { port } = adapter.address() as AddressInfo
  return () => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const events = readEvents(socket)
    const send = (type: string, data: object = {}, payload = Buffer.alloc(0)) => {
      const [header] = writeEvent(type).toString().split('\n')
      const lengths = { data, data_length: 0, payload_length: payload.length }
      socket.write(`${JSON.stringify({ ...JSON.parse(header!), ...lengths })}\n`)
      socket.write(payload)
    }
    return {
      socket,
      send,
      speak(format: object = FORMAT) {
        send('audio-start', format)
        for (let at = 0; at < speech.length; at += 3200) {
          send('audio-chunk', format, Buffer.from(speech.subarray(at, at + 3200)))
        }
        send('audio-stop')
      },
      async next(type?: string): Promise<WyomingEvent> {
        for (;;) {
          const { value } = await events.next()
          assert.ok(value, `the connection ended before ${type}`)
          if (type === undefined || value.type === type) return value
        }
      },
      /** The events until the connection ends or one of the type came. */
      async until(type: string): Promise<WyomingEvent[]> {
        const all: WyomingEvent[] = []
        for (;;) {
          const { value, done } = await events.next()
          if (done) return all
          all.push(value)
          if (value.type === type) return all
        }
      },
    }
  }
}

test('speech is transcribed in chunks and as a whole, repeatedly', async (t) => {
  const connectClient = await startAdapter(t)
  const client = connectClient()
  for (const wanted of [{ language: 'en', transcript_names: ['Zyntrix', 7] }, {}]) {
    client.send('transcribe', wanted)
    client.speak()
    const events = await client.until('transcript-stop')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['transcript-start', 'transcript-chunk', 'transcript-chunk', 'transcript', 'transcript-stop'],
    )
    const [, one, two, { data } = events[0]!] = events
    assert.deepEqual(data, { text: 'hello there hello there', language: 'en' })
    assert.equal(`${one!.data.text}${two!.data.text}`, data.text)
  }
  type Params = { request_params: { realtime_processing: Record<string, object> } }
  const { items } = (await call<{ items: Params[] }>(server, '/v2/live?limit=2')).body
  const vocabularies = items.map(({ request_params: params }) => {
    return JSON.stringify(params.realtime_processing.custom_vocabulary_config ?? null)
  })
  assert.match(vocabularies.join(' '), /Zyntrix/)
})

test('describe returns the models and languages of the server', async (t) => {
  const client = (await startAdapter(t))()
  client.send('describe')
  const { data } = await client.next('info')
  const [program] = data.asr as { models: { name: string; languages: string[] }[] }[]
  assert.ok(program!.models.some(({ name }) => name === 'stt-1'))
  assert.deepEqual(program!.models[0]!.languages, ['en'])
  client.send('ping', { text: 'x' })
  assert.deepEqual((await client.next('pong')).data, { text: 'x' })
})

test('several clients are transcribed concurrently, and silence yields no text', async (t) => {
  const connectClient = await startAdapter(t, { language: 'en' })
  const clients = [connectClient(), connectClient(), connectClient()]
  const quiet = connectClient()
  for (const client of clients) client.speak()
  quiet.send('audio-chunk', FORMAT, Buffer.alloc(32_000))
  quiet.send('audio-stop')
  const responses = await Promise.all(
    [...clients, quiet].map((client) => client.next('transcript')),
  )
  const texts = responses.map(({ data }) => data.text)
  assert.deepEqual(texts, [...Array(3).fill('hello there hello there'), ''])
})

test('an invalid request gets an error, and the connection ends', async (t) => {
  const problems: string[] = []
  const connectClient = await startAdapter(t, { onError: (message) => problems.push(message) })
  const wrong: [(client: ReturnType<typeof connectClient>) => void, RegExp][] = [
    [(client) => client.speak({ ...FORMAT, rate: 22_050 }), /400: sample_rate must be one of/],
    [(client) => client.send('audio-stop'), /without audio/],
    [(client) => client.socket.write('GET / HTTP/1.1\r\n\r\n'), /not JSON/],
    [(client) => client.socket.write('{"type":"x","payload_length":1e9}\n'), /more than/],
  ]
  for (const [act, expected] of wrong) {
    const client = connectClient()
    act(client)
    const [event, ...others] = await client.until('none')
    assert.equal(event?.type, 'error')
    assert.match(String(event.data.text), expected)
    assert.deepEqual(others, [])
  }
  assert.equal(problems.length, wrong.length)
})

test('a wrong key and an unreachable server are reported', async (t) => {
  const key = 'wrong'
  const refused = (await startAdapter(t, { server: { ...server, key } }))()
  refused.send('describe')
  assert.match(String((await refused.next('error')).data.text), /answered 401: Cannot accept/)
  const url = 'http://127.0.0.1:1'
  const away = (await startAdapter(t, { server: { url, key } }))()
  away.speak()
  const { data } = await away.next('error')
  assert.equal(data.text, `Cannot reach the server at ${url}`)
})

test('a client that disconnects while speaking ends its session', async (t) => {
  const client = (await startAdapter(t))()
  const before = await sessions()
  client.send('audio-chunk', FORMAT, Buffer.from(speech))
  while ((await sessions()).length === before.length);
  client.socket.destroy()
  const [latest] = await sessions()
  while ((await sessions()).find(({ id }) => id === latest!.id)!.status !== 'done');

  type Session = { id: string; status: string }
  async function sessions(): Promise<Session[]> {
    return (await call<{ items: Session[] }>(server, '/v2/live?limit=50')).body.items
  }
})

test('the Wyoming program shows its options and rejects invalid ones', async () => {
  const file = join(import.meta.dirname, '../../../examples/wyoming/main.ts')
  const run = (...args: string[]) => {
    const env = { ...process.env, STENO_KEY: '' }
    const flags = ['--disable-warning=ExperimentalWarning', file, ...args]
    return promisify(execFile)(process.execPath, flags, { env })
  }
  assert.match((await run('--help')).stdout, /--listen HOST:PORT/)
  const refused = { code: 2, stderr: 'Give a key with STENO_KEY or --key\n' }
  await assert.rejects(run(), refused)
  await assert.rejects(run('--key', 'k', '--listen', 'x:y'), { code: 2, stderr: /--listen is/ })
})
