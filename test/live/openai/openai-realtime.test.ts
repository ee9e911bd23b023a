import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type Event = { type: string; event_id: string; item_id?: string; delta?: string } & Record<
  string,
  unknown
>

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('Hello there.') })
})
after(() => server.close())

/** Opens a socket as OpenAI's clients do. */
async function connect(
  t: TestContext,
  {
    headers,
    protocols,
    base,
    of = server,
  }: {
    headers?: Record<string, string>
    protocols?: string[]
    base?: string
    of?: TestServer
  } = {},
) {
  const url = `${(base ?? of.url).replace('http', 'ws')}/v1/realtime?intent=transcription`
  const key = protocols ? {} : { authorization: `Bearer ${of.key}` }
  const socket = new WebSocket(url, protocols ?? [], { headers: { ...key, ...headers } })
  t.after(() => socket.terminate())
  const events: Event[] = []
  let wake = () => {}
  socket.on('message', (data) => {
    events.push(JSON.parse(String(data)))
    wake()
  })
  const closed = once(socket, 'close') as Promise<[number]>
  closed.catch(() => {}) // A refused socket fails when it opens.
  await once(socket, 'open')
  return {
    socket,
    events,
    closed,
    send: (event: object) => socket.send(JSON.stringify(event)),
    append(pcm: Buffer) {
      const audio = pcm.toString('base64')
      socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }))
    },
    async next(type: string, count = 1): Promise<Event> {
      for (;;) {
        const found = events.filter((event) => event.type === type)
        if (found.length >= count) return found[count - 1]!
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
    },
  }
}

/** 24 kHz PCM: a tone, which the engine of the tests takes for speech, or silence. */
function sound(seconds: number, { isSilent = false, rate = 24_000 } = {}): Buffer {
  const pcm = Buffer.alloc(2 * Math.round(seconds * rate))
  if (isSilent) return pcm
  for (let i = 0; i < pcm.length / 2; i++) {
    pcm.writeInt16LE(Math.round(8000 * Math.sin((i * 2 * Math.PI * 440) / rate)), 2 * i)
  }
  return pcm
}

const COMPLETED = 'conversation.item.input_audio_transcription.completed'
const DELTA = 'conversation.item.input_audio_transcription.delta'

test('server-detected turns are transcribed', async (t) => {
  const client = await connect(t)
  const created = await client.next('session.created')
  assert.equal((created.session as Event).type, 'transcription')
  client.send({
    type: 'session.update',
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: 'gpt-4o-transcribe', language: 'en', prompt: 'Zyntrix' },
          turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
        },
      },
      include: ['item.input_audio_transcription.logprobs'],
    },
  })
  const { session } = await client.next('session.updated')
  type Described = { audio: { input: { transcription: { model: string } } } }
  const { input } = (session as Described).audio
  assert.equal(input.transcription.model, 'gpt-4o-transcribe')
  for (let turn = 0; turn < 2; turn++) {
    client.append(sound(1.5))
    client.append(sound(1, { isSilent: true }))
  }
  const first = await client.next(COMPLETED, 1)
  const second = await client.next(COMPLETED, 2)
  assert.deepEqual([first.transcript, second.transcript], ['Hello there.', 'Hello there.'])
  assert.equal((first.logprobs as unknown[]).length, 2)
  assert.notEqual(first.item_id, second.item_id)
  const turnEvents = client.events.filter(({ type }) => !type.startsWith('session.'))
  const ofFirst = turnEvents.filter((event) => {
    return [event.item_id, (event.item as Event)?.id].includes(first.item_id!)
  })
  const kinds = ofFirst.map(({ type }) => type).filter((type) => type !== DELTA)
  assert.deepEqual(kinds, [
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    COMPLETED,
  ])
  const deltas = ofFirst.filter(({ type }) => type === DELTA)
  assert.equal(deltas.map(({ delta }) => delta).join(''), 'Hello there.')
  assert.equal((ofFirst[0] as Event).audio_start_ms, 0)
  client.socket.close()
  await client.closed
  type Jobs = { items: { kind: string; request_params: Record<string, unknown> }[] }
  const { items } = (await call<Jobs>(server, '/v2/live?limit=1')).body
  assert.equal(items[0]!.kind, 'live')
  assert.deepEqual(items[0]!.request_params.language_config, {
    languages: ['en'],
    code_switching: false,
  })
})

test('the base URL of a socket may end with a slash', async (t) => {
  const { socket } = await connect(t, { base: `${server.url}/` })
  assert.equal(socket.readyState, WebSocket.OPEN)
})

test('a commit ends the turn of a server that detects turns, and the socket stays open', async (t) => {
  const client = await connect(t)
  for (let turn = 0; turn < 2; turn++) {
    client.append(sound(1))
    client.send({ type: 'input_audio_buffer.commit' })
  }
  const completed = await client.next(COMPLETED, 2)
  assert.equal(completed.transcript, 'Hello there.')
  const started = client.events.filter(({ type }) => type === 'input_audio_buffer.speech_started')
  assert.deepEqual([started.length, started[1]!.item_id], [2, completed.item_id])
  assert.equal(started[1]!.audio_start_ms, 1000)
})

test('a commit of silence makes a turn without text', async (t) => {
  const client = await connect(t)
  client.append(sound(1, { isSilent: true }))
  client.send({ type: 'input_audio_buffer.commit' })
  assert.equal((await client.next(COMPLETED, 1)).transcript, '')
  client.append(sound(1))
  client.send({ type: 'input_audio_buffer.commit' })
  assert.equal((await client.next(COMPLETED, 2)).transcript, 'Hello there.')
  const committed = client.events.filter(({ type }) => type === 'input_audio_buffer.committed')
  assert.equal(committed.length, 2)
})

test('client-committed turns are transcribed completely and in order', async (t) => {
  const client = await connect(t)
  client.send({
    type: 'session.update',
    session: { type: 'transcription', audio: { input: { turn_detection: null } } },
  })
  client.append(sound(1))
  client.append(sound(1.5, { isSilent: true }))
  client.append(sound(1))
  client.send({ type: 'input_audio_buffer.commit' })
  client.append(sound(1))
  client.send({ type: 'input_audio_buffer.commit' })
  client.append(sound(1))
  client.send({ type: 'input_audio_buffer.clear' })
  client.append(sound(1))
  client.send({ type: 'input_audio_buffer.commit' })
  const first = await client.next(COMPLETED, 1)
  const last = await client.next(COMPLETED, 3)
  assert.equal(first.transcript, 'Hello there. Hello there.')
  assert.equal(last.transcript, 'Hello there.')
  const committed = client.events.filter(({ type }) => type === 'input_audio_buffer.committed')
  assert.deepEqual(
    committed.map(({ previous_item_id: before }) => before),
    [null, ...committed.slice(0, 2).map(({ item_id: id }) => id)],
  )
  client.send({ type: 'input_audio_buffer.commit', event_id: 'mine' })
  const { error } = await client.next('error')
  assert.match((error as Event).message as string, /holds no audio/)
  assert.equal((error as Event).event_id, 'mine')
})

test('a turn waits for the sessions of earlier turns if there is no capacity beside them', async (t) => {
  const small = await startServer({
    speech: createFakeSpeechEngine('Hello there.'),
    env: { STENO_LIVE_SLOTS: '1' },
  })
  t.after(() => small.close())
  for (const turnDetection of [null, { type: 'server_vad' }]) {
    const client = await connect(t, { of: small })
    const input = { turn_detection: turnDetection }
    client.send({ type: 'session.update', session: { audio: { input } } })
    for (let turn = 0; turn < 3; turn++) {
      client.append(sound(1))
      client.send({ type: 'input_audio_buffer.commit' })
    }
    assert.equal((await client.next(COMPLETED, 3)).transcript, 'Hello there.')
    assert.ok(!client.events.some(({ type }) => type === 'error'))
    client.socket.close()
    await client.closed
  }
})

test('beta event names, mu-law and a key as subprotocol are supported', async (t) => {
  const protocols = ['realtime', `openai-insecure-api-key.${server.key}`, 'openai-beta.realtime-v1']
  const client = await connect(t, { protocols })
  assert.equal(client.socket.protocol, 'realtime')
  await client.next('transcription_session.created')
  client.send({
    type: 'transcription_session.update',
    session: {
      input_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'whisper-1' },
      turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
    },
  })
  const { session } = await client.next('transcription_session.updated')
  assert.equal((session as Event).input_audio_format, 'g711_ulaw')
  assert.deepEqual((session as Event).input_audio_transcription, { model: 'whisper-1', prompt: '' })
  // Mu-law: a loud tone of 500 Hz, then silence.
  const wave = Buffer.concat([Buffer.alloc(8, 0x80), Buffer.alloc(8, 0x00)])
  client.append(Buffer.alloc(8000, wave))
  client.append(Buffer.alloc(8000, 0xff))
  assert.equal((await client.next(COMPLETED)).transcript, 'Hello there.')
  await client.next('conversation.item.created')
})

test('client errors are reported without closing the socket', async (t) => {
  const client = await connect(t)
  client.socket.send('nonsense')
  client.socket.send(Buffer.alloc(4))
  client.send({ type: 'response.create' })
  client.send({ type: 'input_audio_buffer.append', audio: 7 })
  client.send({ type: 'input_audio_buffer.append', audio: '!!' })
  const rate = { type: 'audio/pcm', rate: 16_000 }
  client.send({ type: 'session.update', session: { audio: { input: { format: rate } } } })
  await client.next('error', 6)
  const messages = client.events
    .filter(({ type }) => type === 'error')
    .map(({ error }) => (error as Event).message as string)
  assert.match(
    messages.join('\n'),
    /not a JSON.*\n.*not a JSON.*\n.*only transcribes.*\naudio must.*\naudio must.*\nrate/,
  )
  client.append(sound(1))
  client.append(sound(1, { isSilent: true }))
  await client.next(COMPLETED)
})

test('invalid session settings are rejected, and earlier ones kept', async (t) => {
  const client = await connect(t)
  const refused = [
    [{ transcription: { model: 'none' } }, /^model must/, 'model'],
    [{ transcription: { language: 'xx' } }, /^language must/, 'language'],
    [
      { transcription: { language: 'de' } },
      /^language must .*no installed model supports de/,
      'language',
    ],
    [{ transcription: { language: 5 } }, /^language must be a string/, 'language'],
    [{ turn_detection: { type: 'other' } }, /^turn_detection.type must/, 'turn_detection.type'],
    [
      { turn_detection: { silence_duration_ms: 'x' } },
      /^turn_detection.silence_duration_ms must/,
      'turn_detection.silence_duration_ms',
    ],
  ] as const
  for (const [i, [input]] of refused.entries()) {
    client.send({ type: 'session.update', event_id: `e${i}`, session: { audio: { input } } })
  }
  for (const [i, [, message, param]] of refused.entries()) {
    const error = (await client.next('error', i + 1)).error as Event
    assert.match(error.message as string, message)
    assert.deepEqual([error.event_id, error.param], [`e${i}`, param])
  }
  client.append(sound(1))
  client.append(sound(1, { isSilent: true }))
  await client.next(COMPLETED)
  assert.ok(!client.events.some(({ type }) => type === 'session.updated'))
  const format = { type: 'audio/pcmu' }
  client.send({ type: 'session.update', session: { audio: { input: { format } } } })
  const late = (await client.next('error', refused.length + 1)).error as Event
  assert.match(late.message as string, /^the format of the audio must stay the same/)
})

test('settings may change after audio: the session goes on, or another one follows', async (t) => {
  const client = await connect(t)
  const update = async (count: number, prompt: string) => {
    const transcription = { model: 'gpt-transcribe', prompt }
    const detection = { type: 'server_vad', silence_duration_ms: 300 }
    const input = { transcription, turn_detection: detection }
    client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
    await client.next('session.updated', count)
  }
  const sessionCount = async () => {
    return (await call<{ items: object[] }>(server, '/v2/live?limit=1000')).body.items.length
  }
  const before = await sessionCount()
  for (const [i, prompt] of ['Zyntrix', 'Zyntrix', 'Digique'].entries()) {
    await update(i + 1, prompt)
    client.append(sound(1))
    client.append(sound(1, { isSilent: true }))
    assert.equal((await client.next(COMPLETED, i + 1)).transcript, 'Hello there.')
  }
  assert.equal((await sessionCount()) - before, 2)
  // Amid a speech, it goes on until its end.
  client.append(sound(1))
  await client.next('input_audio_buffer.speech_started', 4)
  await update(4, 'Zyntrix')
  client.append(sound(1))
  client.append(sound(1, { isSilent: true }))
  await client.next(COMPLETED, 4)
  client.append(sound(1))
  client.append(sound(1, { isSilent: true }))
  await client.next(COMPLETED, 5)
  assert.equal((await sessionCount()) - before, 3)
  const started = client.events.filter(({ type }) => type === 'input_audio_buffer.speech_started')
  assert.equal(started.length, 5)
  assert.ok(!client.events.some(({ type }) => type === 'error'))
})

test('models without turns of their own leave them to the client, and send deltas', async (t) => {
  const client = await connect(t)
  const transcription = {
    ...{ model: 'gpt-realtime-whisper', delay: 'low' },
    ...{ languages: ['en', 'EN'], keywords: ['Ada Quell'] },
  }
  client.send({
    type: 'session.update',
    session: { type: 'transcription', audio: { input: { transcription } } },
  })
  const { session } = await client.next('session.updated')
  type Described = { audio: { input: { turn_detection: null; transcription: object } } }
  const { input } = (session as Described).audio
  assert.equal(input.turn_detection, null)
  const { keywords } = transcription
  assert.deepEqual(input.transcription, {
    ...{ model: 'gpt-realtime-whisper', languages: ['en', 'EN'], keywords, prompt: '' },
  })
  for (let turn = 0; turn < 2; turn++) {
    client.append(sound(1))
    client.append(sound(1, { isSilent: true }))
  }
  await client.next(DELTA, 2)
  assert.ok(!client.events.some(({ type }) => type === COMPLETED))
  client.send({ type: 'input_audio_buffer.commit' })
  const { transcript, languages: heard } = await client.next(COMPLETED)
  assert.equal(transcript, 'Hello there. Hello there.')
  assert.deepEqual(heard, [{ code: 'en' }])
  const deltas = client.events.filter(({ type }) => type === DELTA)
  assert.equal(deltas.map(({ delta }) => delta).join(''), transcript)
  type Jobs = { items: { request_params: Record<string, unknown> }[] }
  const { items } = (await call<Jobs>(server, '/v2/live?limit=1')).body
  const { language_config: config, realtime_processing: processing } = items[0]!.request_params
  assert.deepEqual(config, { languages: ['en'], code_switching: false })
  const vocabulary = processing as Record<string, { vocabulary: string[] }>
  assert.deepEqual(vocabulary.custom_vocabulary_config!.vocabulary, ['Ada Quell'])
})

test('a wrong key is rejected before the upgrade', async (t) => {
  const headers = { authorization: 'Bearer wrong' }
  await assert.rejects(connect(t, { headers }), /Unexpected server response: 401/)
})
