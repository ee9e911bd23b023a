// A server that keeps nothing is killed at random moments, while callbacks accept and refuse
// results.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { databaseFile } from '../../../src/storage/data-folder/data-folder.ts'
import { noise, waveOf } from '../../support/audio/noise.ts'
import { openReceiver } from '../../support/delivery/receiver.ts'
import { call } from '../../support/net/http-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { IS_SHORT, rounds, SEED } from '../../support/random/rounds.ts'
import { kill, startChild } from '../../support/server/child-server.ts'
import { filesHolding } from '../../support/storage/folder-search.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const KILLS = IS_SHORT ? 4 : rounds(6)
const JOBS_EACH = 8
/** A killed server has listened at most this long. */
const MAX_LIFE_MS = 800

const samples = noise(8, 1)
const recording = waveOf([samples])
const needles = ['Zanzibar', 'zanzibar', 'Quagmire', 'Umbriel'].map((text) => Buffer.from(text))
needles.push(Buffer.from(samples.slice(48_000, 48_064).buffer))

test('despite repeated kills no result is lost and no data remains', async (t) => {
  const random = createRandom(SEED)
  const folder = await makeFolder(t)
  const accepted = new Set<string>()
  const receiver = await openReceiver(({ path, body }, response) => {
    if (path.startsWith('/talk')) return void response.end(recording)
    if (random() < 0.3) return 503
    assert.match(body, /Zanzibar.*Umbriel/)
    accepted.add((JSON.parse(body) as { id: string }).id)
    return 200
  })
  t.after(() => receiver.close())
  const env = {
    STENO_ZERO_RETENTION: 'true',
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    FAKE_RETRY_MS: '50',
    // Every result is an object of its own.
    FAKE_TEXT: `Zanzibar ${'is far away '.repeat(1500)}`,
  }
  const created: string[] = []
  const json = {
    audio_url: `${receiver.url}/talk.wav`,
    callback: true,
    callback_config: { url: `${receiver.url}/called` },
    custom_metadata: { person: 'Umbriel' },
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: ['Quagmire'] },
  }
  for (let kills = 0; kills < KILLS; kills++) {
    const server = (await startChild(t, folder, { env }))!
    for (let n = 0; n < JOBS_EACH; n++) {
      const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
      created.push(body.id)
    }
    await delay(random() * MAX_LIFE_MS)
    await kill(server)
  }
  const last = (await startChild(t, folder, { env }))!
  const count = async () => {
    // Their results are long: while there is one, the others are not read.
    for (const limit of [1, 1000]) {
      const { body } = await call<{ items: unknown[] }>(last, `/v2/pre-recorded?limit=${limit}`)
      if (body.items.length > 0) return body.items.length
    }
    return 0
  }
  while ((await count()) > 0) await delay(100)
  assert.deepEqual([...accepted].sort(), created.toSorted(), 'each result was accepted')
  const traces = async () => {
    const database = new DatabaseSync(databaseFile(folder))
    database.exec('pragma wal_checkpoint(truncate)')
    database.close()
    return filesHolding(folder, needles)
  }
  while ((await traces()).length > 0) await delay(100)
  await kill(last)
})
