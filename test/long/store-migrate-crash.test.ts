// `steno store migrate` is killed at random moments, and ends all the same.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from '../support/child-server.ts'
import { fillStore, hashFolder } from '../support/filled-store.ts'
import { createRandom } from '../support/random.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { startSteno } from '../support/run-steno.ts'
import { createDatabase, noPostgres } from '../support/test-postgres.ts'
import { noS3, s3Settings, s3Url } from '../support/test-s3.ts'

const JOBS = 4000
const OBJECTS = 300
/** Kills until it may end. */
const KILLS = 8

test('a move that is killed again and again ends with everything moved once', {
  skip: noPostgres || noS3,
}, async (t) => {
  const random = createRandom(SEED)
  const folder = await fillStore(t, { jobs: JOBS, objects: OBJECTS })
  const before = await hashFolder(folder)
  for (let round = 0; round < rounds(1); round++) {
    const env = {
      STENO_DATA_DIR: folder,
      STENO_DATABASE_URL: (await createDatabase()).url,
      STENO_OBJECT_STORE: s3Url(await s3Settings()),
    }
    let said = ''
    let kills = 0
    for (let code: number | null = null; code !== 0; ) {
      const child = startSteno(['store', 'migrate'], { env })
      const isKilled = kills < KILLS
      const exited = once(child, 'exit')
      const output = text(child.stderr)
      if (isKilled) {
        // It takes about a second to begin.
        await Promise.race([exited, delay(700 + random() * (400 + 300 * kills))])
        child.kill('SIGKILL')
        kills++
      }
      ;[code] = await exited
      said = await output
      if (!isKilled) assert.equal(code, 0, said)
    }
    assert.match(said, /Everything was copied and compared/)
    assert.equal(await hashFolder(folder), before, 'the folder stays as it was')
    t.diagnostic(`${kills} kills`)
    for (const name of ['steno.sqlite', 'objects']) {
      await rename(join(folder, name), join(folder, `${name}.moved`))
    }
    const env2 = { ...env, STENO_API_KEYS: 'acme:child-key' }
    const server = (await startChild(t, folder, { env: env2 }))!
    const list = '/v2/pre-recorded?limit=1&custom_metadata='
    const filter = encodeURIComponent(JSON.stringify({ n: '1234' }))
    const headers = { 'x-service-key': 'child-key' }
    const answer = await fetch(server.url + list + filter, { headers })
    const { items } = (await answer.json()) as { items: { custom_metadata: { n: string } }[] }
    assert.deepEqual(
      items.map(({ custom_metadata }) => custom_metadata.n),
      ['1234'],
    )
    server.process.kill('SIGTERM')
    await server.ended
    for (const name of ['steno.sqlite', 'objects']) {
      await rename(join(folder, `${name}.moved`), join(folder, name))
    }
  }
})
