import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createMemorySessionStore } from '../../../test/support/live/stores/memory-session-store.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { wavHeader } from '../../audio/containers/wav-header.ts'
import { createLog } from '../../observability/log.ts'
import { Journal } from '../journal/journal.ts'
import type { MessageOutbox } from '../messages/message-outbox.ts'
import { AudioInput } from './audio-input.ts'

const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const

/** Opens an audio input; `acks` are the acknowledged byte ranges. */
function openAudioInput({ disconnect = assert.fail as () => void } = {}) {
  const store = createMemorySessionStore()
  const acks: [number, number][] = []
  const { signal } = new AbortController()
  const journal = new Journal({ store, log: createLog('silent'), signal })
  const outbox = {
    wantsAcks: true,
    acknowledge: (text: string) => acks.push(JSON.parse(text).data.byte_range),
    send: () => {},
    disconnect,
  } as unknown as MessageOutbox
  const audioInput = new AudioInput({
    sessionId: 'one',
    format,
    keepSeconds: 30,
    earlier: undefined,
    store,
    journal,
    outbox,
  })
  return { audioInput, acks, flushed: () => journal.flushed(), stored: () => store.audioBytes }
}

const random = createRandom(5)
const audio = Buffer.from(Array.from({ length: 1000 }, () => random() * 256))

test('a client may resume at an acknowledged position of repeated audio', async () => {
  const { audioInput, acks, flushed, stored } = openAudioInput()
  for (let at = 0; at < 900; at += 100) audioInput.take(audio.subarray(at, at + 100))
  await audioInput.resume(undefined)
  audioInput.take(audio.subarray(0, 550))
  audioInput.take(audio.subarray(550, 1000))
  await flushed()
  assert.deepEqual(acks.slice(-2), [
    [0, 550],
    [550, 1000],
  ])
  // Only the first of the two acks arrived.
  await audioInput.resume(undefined)
  audioInput.take(audio.subarray(550))
  await flushed()
  assert.deepEqual(acks.at(-1), [550, 1000])
  assert.equal(stored(), 1000)
})

test('audio that a lost connection repeated in part is not stored again', async () => {
  const { audioInput, acks, flushed, stored } = openAudioInput()
  for (let at = 0; at < 900; at += 100) audioInput.take(audio.subarray(at, at + 100))
  await audioInput.resume(undefined)
  audioInput.take(audio.subarray(100, 600))
  await audioInput.resume(undefined)
  audioInput.take(audio.subarray(100, 600))
  audioInput.take(audio.subarray(600))
  await flushed()
  assert.equal(stored(), 1000)
  assert.deepEqual(acks.at(-1), [600, 1000])
})

/** Sends the first 900 bytes, and opens a connection that will repeat some. */
async function resumed() {
  const opened = openAudioInput()
  for (let at = 0; at < 900; at += 100) opened.audioInput.take(audio.subarray(at, at + 100))
  await opened.audioInput.resume(undefined)
  opened.acks.length = 0
  return opened
}

/** Lets time pass while the process runs: no timer fires late. */
function run(t: TestContext, ms: number): void {
  for (let i = 0; i < ms; i++) t.mock.timers.tick(1)
}

test('an empty chunk does not decide whether the next ones repeat audio', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const { audioInput, acks, flushed, stored } = await resumed()
  const empty = Buffer.alloc(0)
  audioInput.take(empty)
  run(t, 1000)
  audioInput.take(empty)
  audioInput.settle()
  audioInput.take(empty)
  audioInput.take(audio.subarray(500))
  await flushed()
  assert.deepEqual(acks, [
    [900, 900],
    [900, 900],
    [500, 500],
    [500, 1000],
  ])
  assert.equal(stored(), 1000)
})

test('slowly repeated audio is held, but only for a limited time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const { audioInput, acks, flushed } = await resumed()
  const repeat = async (from: number, count: number) => {
    for (let at = from; at < from + count; at++) {
      audioInput.take(audio.subarray(at, at + 1))
      run(t, 999)
    }
    await flushed()
  }
  await repeat(0, 10)
  assert.equal(acks.length, 0)
  await repeat(10, 1)
  assert.deepEqual([acks.length, acks.at(-1)], [11, [910, 911]])
})

test('audio that is repeated while the server stands still is not stored again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const { audioInput, acks, flushed, stored } = await resumed()
  audioInput.take(audio.subarray(0, 500))
  t.mock.timers.tick(60_000) // The timers fire at once, before the socket is read.
  audioInput.take(audio.subarray(500))
  await flushed()
  assert.deepEqual(acks, [
    [0, 500],
    [500, 1000],
  ])
  assert.equal(stored(), 1000)
})

test('held audio is stored when the client stops repeating', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const { audioInput, acks, flushed } = await resumed()
  audioInput.take(audio.subarray(0, 100))
  run(t, 1000)
  await flushed()
  assert.deepEqual(acks, [[900, 1000]])
})

test('the end of a session stores held audio', async () => {
  const { audioInput, acks, flushed } = await resumed()
  audioInput.take(Buffer.alloc(0))
  audioInput.take(audio.subarray(0, 10))
  audioInput.end()
  await flushed()
  assert.deepEqual(acks, [
    [900, 900],
    [900, 910],
  ])
})

test('nothing that follows a refused header is stored, until a client connects again', async () => {
  const { audioInput, flushed, stored } = openAudioInput({ disconnect() {} })
  const header = wavHeader({ ...format, sampleRate: 8000 }, 1000)
  audioInput.take(Buffer.concat([header, audio]))
  audioInput.take(audio)
  await flushed()
  assert.equal(stored(), 0)
  await audioInput.resume(undefined)
  audioInput.take(audio)
  await flushed()
  assert.equal(stored(), 1000)
})
