import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

/** The jobs of recordings over 30 s that the fake engine's two workers have under way. */
const SLOTS = 2
const SECOND_KEY = 'second-key'

/** A server whose engine ends no job until it is told to; two keys of `test`, one of `other`. */
async function startHeld(t: TestContext, env: Record<string, string> = {}) {
  const held: (() => void)[] = []
  const speech = createFakeSpeechEngine('hello', {
    onBatch([first]) {
      if (first!.start === 0) return new Promise<void>((resolve) => held.push(resolve))
    },
  })
  const keys = `test:test-key,test:${SECOND_KEY},other:${OTHER_KEY}`
  const server = await startServer({ speech, env: { STENO_API_KEYS: keys, ...env } })
  t.after(() => {
    for (const release of held) release()
    return server.close()
  })
  async function untilHeld(count: number): Promise<void> {
    while (held.length < count) await delay(5)
  }
  const [mine, other] = [
    await upload(server, createToneWav(31)),
    await upload(as(server, OTHER_KEY), createToneWav(31)),
  ]
  return { server, held, untilHeld, own: mine, other }
}

function as({ url }: TestServer, key: string) {
  return { url, key }
}

function create(server: Pick<TestServer, 'url' | 'key'>, audioUrl: string) {
  return call<{ id: string } & ErrorBody>(server, '/v2/pre-recorded', {
    json: { audio_url: audioUrl },
  })
}

async function count(server: Pick<TestServer, 'url' | 'key'>, status: string): Promise<number> {
  const { body } = await call<{ items: unknown[] }>(
    server,
    `/v2/pre-recorded?status=${status}&limit=200`,
  )
  return body.items.length
}

test('the single job of an account runs before the many of another', async (t) => {
  const { server, held, untilHeld, own, other } = await startHeld(t)
  for (let n = 0; n < 20; n++) assert.equal((await create(server, own)).status, 201)
  await untilHeld(SLOTS)
  const second = as(server, OTHER_KEY)
  const { body } = await create(second, other)
  held.shift()!()
  await untilHeld(SLOTS)
  const late = await call(second, `/v2/pre-recorded/${body.id}`)
  assert.equal(late.body.status, 'processing', 'the first free slot is for the other account')
  assert.deepEqual([await count(server, 'done'), await count(server, 'queued')], [1, 18])
})

test('an account never exceeds its limit of running jobs', async (t) => {
  const { server, held, untilHeld, own, other } = await startHeld(t, {
    STENO_MAX_CONCURRENT_JOBS: '1',
  })
  const jobs = [own, own, own]
  for (const [n, url] of jobs.entries()) {
    // By both keys: the limit is the account's.
    await create(n % 2 === 0 ? server : as(server, SECOND_KEY), url)
  }
  await untilHeld(1)
  await create(as(server, OTHER_KEY), other)
  await untilHeld(SLOTS)
  for (let left = jobs.length; left > 0; left--) {
    assert.equal(await count(server, 'processing'), 1)
    assert.equal(await count(server, 'queued'), left - 1)
    held.shift()!()
    if (left > 1) await untilHeld(1)
    while ((await count(server, 'done')) < jobs.length - left + 1) await delay(5)
    // The slot that the other account leaves stays free.
    if (left === jobs.length) {
      held.shift()!()
      await untilHeld(1)
      while ((await count(as(server, OTHER_KEY), 'done')) < 1) await delay(5)
    }
  }
})

test('a full queue responds with 429 to all keys of its account, and to no other', async (t) => {
  const { server, held, untilHeld, own, other } = await startHeld(t, {
    STENO_MAX_QUEUED_JOBS: '2',
  })
  for (let n = 0; n < SLOTS; n++) await create(server, own)
  await untilHeld(SLOTS)
  for (let n = 0; n < 2; n++) assert.equal((await create(server, own)).status, 201)
  for (const key of [server.key, SECOND_KEY]) {
    const { status, headers, body } = await create(as(server, key), own)
    assert.equal(status, 429)
    assert.match(body.message, /2 are waiting already/)
    // Before the first job has ended, one is taken to last ten seconds; two are under way.
    assert.equal(headers.get('retry-after'), '5')
  }
  assert.equal((await create(as(server, OTHER_KEY), other)).status, 201)
  assert.equal((await create(server, own)).status, 429)
  assert.equal(await count(server, 'queued'), 2, 'a refused job leaves nothing')

  // The slot that becomes free goes to the other account, the next one to this.
  for (let n = 0; n < 2; n++) {
    held.shift()!()
    await untilHeld(SLOTS)
  }
  assert.equal((await create(server, own)).status, 201)
})

test('after Retry-After a client finds space in the queue', async (t) => {
  const { server, held, untilHeld, own, other } = await startHeld(t, {
    STENO_MAX_QUEUED_JOBS: '1',
    STENO_MAX_CONCURRENT_JOBS: '1',
  })
  async function retryAfter(): Promise<number> {
    const { status, headers } = await create(server, own)
    assert.equal(status, 429)
    return Number(headers.get('retry-after'))
  }
  await create(server, own)
  await untilHeld(1)
  await create(server, own)
  // One slot of the two, since it may have no more: a whole job's time.
  assert.equal(await retryAfter(), 10)
  // Jobs that end sooner bring the wait down, for they tell more than the guess at the start.
  for (let n = 0; n < 5; n++) {
    held.shift()!()
    await untilHeld(1)
    assert.equal((await create(server, own)).status, 201)
  }
  await create(as(server, OTHER_KEY), other)
  await untilHeld(SLOTS)
  assert.ok((await retryAfter()) < 10)
})
