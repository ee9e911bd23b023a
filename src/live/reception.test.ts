import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createRandom } from '../../test/random.ts'
import { makeFolder } from '../../test/test-storage.ts'
import { createLog } from '../log.ts'
import { createLiveFiles } from '../storage/live-files.ts'
import { Journal } from './journal.ts'
import type { Outbox } from './outbox.ts'
import { Reception } from './reception.ts'

const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const

/** A reception over real files; `acks` are the byte ranges that were acknowledged. */
async function openReception(t: TestContext) {
  const files = await createLiveFiles(join(await makeFolder(t), 'session'))
  t.after(() => files.close())
  const acks: [number, number][] = []
  const { signal } = new AbortController()
  const onBroken = assert.fail
  const journal = new Journal({ files, onBroken, log: createLog('silent'), signal })
  const outbox = {
    wantsAcks: true,
    acknowledge: (text: string) => acks.push(JSON.parse(text).data.byte_range),
    send: () => {},
  } as unknown as Outbox
  const reception = new Reception({
    sessionId: 'one',
    format,
    keepSeconds: 30,
    earlier: undefined,
    files,
    journal,
    outbox,
    onWritten: () => {},
    onMisuse: assert.fail,
  })
  return { reception, acks, flushed: () => journal.flushed(), stored: () => files.soundBytes }
}

const random = createRandom(5)
const sound = Buffer.from(Array.from({ length: 1000 }, () => random() * 256))

test('an ack of bytes that came again is a place where a client goes on, too', async (t) => {
  const { reception, acks, flushed, stored } = await openReception(t)
  for (let at = 0; at < 900; at += 100) reception.take(sound.subarray(at, at + 100))
  await reception.resume(undefined)
  reception.take(sound.subarray(0, 550))
  reception.take(sound.subarray(550, 1000))
  await flushed()
  assert.deepEqual(acks.slice(-2), [
    [0, 550],
    [550, 1000],
  ])
  // Only the first of both acks arrived.
  await reception.resume(undefined)
  reception.take(sound.subarray(550))
  await flushed()
  assert.deepEqual(acks.at(-1), [550, 1000])
  assert.equal(stored(), 1000)
})

test('what a connection repeats only in part before it is lost is not stored again', async (t) => {
  const { reception, acks, flushed, stored } = await openReception(t)
  for (let at = 0; at < 900; at += 100) reception.take(sound.subarray(at, at + 100))
  await reception.resume(undefined)
  reception.take(sound.subarray(100, 600))
  await reception.resume(undefined)
  reception.take(sound.subarray(100, 600))
  reception.take(sound.subarray(600))
  await flushed()
  assert.equal(stored(), 1000)
  assert.deepEqual(acks.at(-1), [600, 1000])
})
