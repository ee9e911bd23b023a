import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { abandonHandshake, connect, openSession } from '../../support/live/clients/live-client.ts'
import { ackedRanges, finalsOf, ofType } from '../../support/live/clients/live-messages.ts'
import { jobOf, speech } from '../../support/live/sessions/live-session-jobs.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('hello big world') })
})
after(() => server.close())

test('a newer connection replaces the older one, which is closed with 4409', async () => {
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.send(speech.subarray(0, 32_000))
  await first.waitForType('audio_chunk')
  const second = await connect(url)
  assert.equal((await first.closed).code, 4409)
  second.send(speech.subarray(32_000))
  second.stop()
  assert.equal((await second.closed).code, 1000)
  assert.deepEqual(ackedRanges(second.messages), [[32_000, speech.length]])
  assert.equal((await jobOf(id, server)).status, 'done')
})

test('a client that disconnected during its handshake replaces no other', async () => {
  const { url } = await openSession(server)
  const client = await connect(url)
  await abandonHandshake(url)
  client.send(speech)
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('missed messages are sent in order after a reconnect, before new ones', async () => {
  const { url } = await openSession(server, { messages_config: { receive_lifecycle_events: true } })
  const first = await connect(url)
  first.send(speech.subarray(0, 9600))
  await first.waitForType('audio_chunk')
  first.terminate()
  await first.closed
  const second = await connect(url)
  second.send(speech.subarray(9600))
  second.stop()
  await second.closed
  const all = [...first.messages, ...second.messages]
  assert.equal(ofType(all, 'start_recording').length, 1)
  assert.deepEqual(
    finalsOf(all).map(({ data }) => data.id),
    ['00_00000000', '00_00000001'],
  )
  assert.deepEqual(ackedRanges(all), [
    [0, 9600],
    [9600, speech.length],
  ])
})

test('messages are kept for a disconnected client', async () => {
  const held = Promise.withResolvers<void>()
  const fake = createFakeSpeechEngine('hello', {
    onLive: (kind) => (kind === 'final' ? held.promise : undefined),
  })
  const other = await startServer({ speech: fake })
  try {
    const { url } = await openSession(other)
    const first = await connect(url)
    first.send(speech)
    await first.waitForType('speech_end')
    first.terminate()
    await first.closed
    held.resolve()
    const second = await connect(url)
    await second.waitForType('transcript', ({ data }) => data.id === '00_00000000')
    second.stop()
    await second.closed
    assert.deepEqual(
      finalsOf(second.messages).map(({ data }) => data.id),
      ['00_00000000', '00_00000001'],
    )
  } finally {
    await other.close()
  }
})

test('unconfirmed messages are sent again after a broken connection', async () => {
  const { url } = await openSession(server)
  const first = await connect(url, { autoPong: false })
  first.send(speech)
  await first.waitForType('transcript', ({ data }) => data.id === '00_00000001')
  first.terminate()
  await first.closed
  const second = await connect(url)
  second.stop()
  await second.closed
  assert.equal(finalsOf(second.messages).length, 2)
})

test('confirmed messages are not sent again', async () => {
  const { url } = await openSession(server)
  const first = await connect(url)
  first.send(speech)
  await first.waitForType('transcript', ({ data }) => data.id === '00_00000001')
  // Answered after the pong that the last message asked for.
  const answered = new Promise((resolve) => first.socket.once('pong', resolve))
  first.socket.ping()
  await answered
  first.socket.ping()
  await new Promise((resolve) => first.socket.once('pong', resolve))
  first.terminate()
  await first.closed
  const second = await connect(url)
  second.stop()
  await second.closed
  assert.deepEqual(finalsOf(second.messages), [])
})

test('a client that sends its offset resumes there without duplicates', async () => {
  const { id, url } = await openSession(server)
  const first = await connect(url)
  first.send(speech.subarray(0, 32_000))
  await first.waitForType('audio_chunk')
  first.terminate()
  await first.closed
  const second = await connect(url, { offset: 16_000 })
  second.send(speech.subarray(16_000))
  second.stop()
  await second.closed
  assert.deepEqual(ackedRanges(second.messages), [[16_000, speech.length]])
  const headers = { 'x-service-key': server.key }
  const file = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
  assert.deepEqual(Buffer.from(await file.arrayBuffer()).subarray(44), speech)
})

test('an offset beyond the audio or an invalid one closes with 4400', async () => {
  const { url } = await openSession(server)
  for (const wrong of [await connect(url, { offset: 1 }), await connect(`${url}&offset=-1`)]) {
    const { code, reason } = await wrong.closed
    assert.equal(code, 4400)
    assert.match(reason, /offset/)
  }
  const client = await connect(url, { offset: 0 })
  client.stop()
  assert.equal((await client.closed).code, 1000)
})

test('only the first frame of a resumed connection may be larger', async () => {
  const { url } = await openSession(server)
  const first = await connect(url)
  first.send(speech)
  await first.waitForType('audio_chunk')
  first.terminate()
  await first.closed
  const second = await connect(url)
  const large = Buffer.alloc(3_000_000, 1)
  second.sendBase64(large)
  const { data } = await second.waitForType('audio_chunk')
  assert.deepEqual(data?.byte_range, [speech.length, speech.length + large.length])
  second.sendBase64(large)
  assert.equal((await second.closed).code, 1009)
})
