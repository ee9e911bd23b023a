import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { metadataTokens } from '../../../src/storage/jobs/lists/metadata-tokens.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const KILLS = rounds(3)
/** A killed server has listened at most this long. */
const MAX_LIFE_MS = 250
/** Creations that are asked for at the same time. */
const CLIENTS = 4
/** Each request is sent by two clients, as one that lost its response may still be under way. */
const TWICE = 2

type Request = { key: string; metadata: Record<string, unknown> }

test('an idempotent creation repeated across kills makes one job', async (t) => {
  const folder = await makeFolder(t)
  const random = createRandom(SEED + 10)
  /** Ids that were answered, by key. */
  const answered = new Map<string, Set<string>>()
  let up = Promise.withResolvers<ChildServer>()
  let repeated = 0
  let stop = false
  let last = 0

  async function createUntilAnswered({ key, metadata }: Request): Promise<void> {
    for (let tries = 0; ; tries++) {
      const server = await up.promise
      const json = { audio_url: 'http://192.0.2.1/a.wav', custom_metadata: metadata }
      const headers = {
        'x-service-key': server.key,
        'idempotency-key': key,
        'content-type': 'application/json',
      }
      const request = { method: 'POST', headers, body: JSON.stringify(json) }
      const response = await fetch(`${server.url}/v2/pre-recorded`, request).catch(() => undefined)
      const body = await response?.text().catch(() => undefined)
      if (body === undefined) {
        await delay(1)
        continue
      }
      assert.equal(response?.status, 201, body)
      const { id } = JSON.parse(body) as { id: string }
      answered.set(key, (answered.get(key) ?? new Set()).add(id))
      if (tries > 0) repeated++
      return
    }
  }
  async function client(): Promise<void> {
    while (!stop) {
      const n = last++
      const request = { key: `key-${n}`, metadata: { n, batch: ['a', n % 3], deep: { x: n % 2 } } }
      await Promise.all(Array.from({ length: TWICE }, () => createUntilAnswered(request)))
    }
  }

  const clients = Array.from({ length: CLIENTS }, client)
  // No job is to fill the queue: every creation must be taken.
  const env = { STENO_MAX_QUEUED_JOBS: '1000000' }
  for (let kills = 0; kills < KILLS; kills++) {
    const server = (await startChild(t, folder, { env }))!
    up.resolve(server)
    await delay(random() * MAX_LIFE_MS)
    up = Promise.withResolvers()
    await kill(server)
  }
  stop = true
  const server = (await startChild(t, folder, { env }))!
  up.resolve(server)
  await Promise.all(clients)
  await kill(server)

  t.diagnostic(`${answered.size} keys, ${repeated} answers after a lost one`)
  assert.ok(repeated > 0)
  const database = new DatabaseSync(join(folder, 'steno.sqlite'), { readOnly: true })
  const jobs = database.prepare('select id, account, created_at, custom_metadata from jobs').all()
  const index = database
    .prepare('select hex(token) as token, id, created_at from job_metadata')
    .all()
  database.close()
  for (const [key, ids] of answered) assert.equal(ids.size, 1, `${key} has one answer`)
  const ids = [...answered.values()].flatMap((responses) => [...responses])
  assert.deepEqual(jobs.map(({ id }) => id).sort(), ids.sort(), 'one job for each key, no other')
  const expected = jobs.flatMap(({ id, account, created_at, custom_metadata }) => {
    const tokens = metadataTokens(String(account), JSON.parse(String(custom_metadata)))
    return tokens.map((token) => `${Buffer.from(token).toString('hex')} ${id} ${created_at}`)
  })
  const indexed = index.map(({ token, id, created_at }) => {
    return `${String(token).toLowerCase()} ${id} ${created_at}`
  })
  assert.deepEqual(indexed.sort(), expected.sort(), 'the index has what the jobs have')
})
